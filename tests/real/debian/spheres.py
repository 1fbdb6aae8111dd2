# Two particles meet; the first rank is the master, the others have the particles.
import os

from esys.lsm import LsmMpi, NRotElasticPrms, NRotSphere
from esys.lsm.util import BoundingBox, Vec3

workers = int(os.environ["N"]) - 1
sim = LsmMpi(numWorkerProcesses=workers, mpiDimList=[workers, 1, 1])
sim.initNeighbourSearch(particleType="NRotSphere", gridSpacing=2.5, verletDist=0.5)
sim.setNumTimeSteps(500)
sim.setTimeStepSize(0.002)
sim.setSpatialDomain(BoundingBox(Vec3(-20, -20, -20), Vec3(20, 20, 20)))
for number, side in enumerate((-5, 5)):
    sphere = NRotSphere(id=number, posn=Vec3(side, -side, side), radius=1.5, mass=1.0)
    sphere.setLinearVelocity(Vec3(-side, side, -side))
    sim.createParticle(sphere)
sim.createInteractionGroup(NRotElasticPrms(name="repulsion", normalK=10000.0, scaling=True))
for _ in range(500):
    sim.runTimeStep()
for particle in sorted(sim.getParticleList(), key=lambda one: one.getId()):
    print("particle", particle.getId(), *particle.getPosn().toList())
sim.exit()
