/* Yorick: each rank sends to the next one, and the first one prints what all have sent to it. */
x = span(0., 1., 1001) + mp_rank;
s = sum(x * x);
if (mp_rank) {
  mp_send, 0, s;
} else {
  for (n = 1; n < mp_size; ++n) s += mp_recv(n);
  write, format="sum %.12g of %ld\n", s, mp_size;
}
