/* A function in a section that is written and run: each rank changes its own. */
#if defined(__x86_64__)
#define WRITABLE_CODE(name)                                                                                 \
  __asm__(".section .writable_code,\"awx\",@progbits\n.globl " #name "\n.type " #name ", @function\n" #name \
          ": movl $42, %eax\n ret\n.text\n");                                                               \
  extern unsigned char name[]
#elif defined(__aarch64__)
#define WRITABLE_CODE(name)                                                                                 \
  __asm__(".section .writable_code,\"awx\",@progbits\n.globl " #name "\n.type " #name ", %function\n" #name \
          ": mov w0, #42\n ret\n.text\n");                                                                  \
  extern unsigned char name[]
#endif
