DataSet ds = ReadDataFile ("small.fas");
DataSetFilter filter = CreateFilter (ds, 1);
HarvestFrequencies (freqs, filter, 1, 1, 1);
global k = 2;
HKY = {{*, t, k*t, t}{t, *, t, k*t}{k*t, t, *, t}{t, k*t, t, *}};
Model M = (HKY, freqs);
Tree T = ((a,b),c,d);
LikelihoodFunction lf = (filter, T);
Optimize (res, lf);
fprintf (stdout, "\nlikelihood ", res[1][0], "\nkappa ", k, "\nranks ", MPI_NODE_COUNT, "\n");
if (MPI_NODE_COUNT > 1) {
  for (n = 1; n < MPI_NODE_COUNT; n += 1) {
    MPISend (n, "return " + n + " * 7;");
  }
  total = 0;
  for (n = 1; n < MPI_NODE_COUNT; n += 1) {
    MPIReceive (-1, from, answer);
    total += 0 + answer;
  }
  fprintf (stdout, "total ", total, "\n");
}
