* Expands a power of a sum, and reduces it by identities, so that the workers get terms and give back what the master merges.
#-
Off Statistics;
Symbols a,b,c,d,e,f,n;
Local F = (a+2*b+3*c-d+e-5*f)^14;
.sort
id a = b + 1;
id c^2 = d - 1;
.sort
id f = 1;
id e^n? = n*d;
.sort
id d = 2;
Print +s;
.end
