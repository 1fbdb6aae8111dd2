algebraic3d
solid cube = orthobrick (0, 0, 0; 1, 1, 1);
solid hole = sphere (0.5, 0.5, 0.5; 0.3);
solid rest = cube and not hole;
tlo rest;
