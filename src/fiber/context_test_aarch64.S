// clump_test_switch(from, to, in, out): clump_switch_context with all registers that it must keep loaded from
// `in`, and stored into `out` when it returns. See context_test.cc.
        .macro each_pair operation
        \operation x19, x20, [x9, #0]
        \operation x21, x22, [x9, #16]
        \operation x23, x24, [x9, #32]
        \operation x25, x26, [x9, #48]
        \operation x27, x28, [x9, #64]
        \operation d8, d9, [x9, #80]
        \operation d10, d11, [x9, #96]
        \operation d12, d13, [x9, #112]
        \operation d14, d15, [x9, #128]
        .endm

        .text
        .globl  clump_test_switch
        .type   clump_test_switch, %function
clump_test_switch:
        sub     sp, sp, #176
        mov     x9, sp
        each_pair stp
        stp     x29, x30, [sp, #144]
        str     x3, [sp, #160]
        mov     x9, x2
        each_pair ldp
        ldr     x29, [x9, #144]
        bl      clump_switch_context
        ldr     x9, [sp, #160]
        each_pair stp
        str     x29, [x9, #144]
        mov     x9, sp
        each_pair ldp
        ldp     x29, x30, [sp, #144]
        add     sp, sp, #176
        ret
        .size   clump_test_switch, . - clump_test_switch
        .section .note.GNU-stack, "", %progbits
