// clump_note_registers and clump_call_behind for aarch64: see world_stop.h.
        .text

        .globl  clump_note_registers
        .hidden clump_note_registers
        .type   clump_note_registers, %function
        .p2align 4
clump_note_registers:
        .cfi_startproc
        mov     x9, sp
        stp     x9, x30, [x0, #0]
        stp     x19, x20, [x0, #16]
        stp     x21, x22, [x0, #32]
        stp     x23, x24, [x0, #48]
        stp     x25, x26, [x0, #64]
        stp     x27, x28, [x0, #80]
        str     x29, [x0, #96]
        ret
        .cfi_endproc
        .size   clump_note_registers, . - clump_note_registers

        // The unwinder is told that all registers are where x19 points.
        .globl  clump_call_behind
        .type   clump_call_behind, %function
        .p2align 4
clump_call_behind:
        .cfi_startproc
        stp     x19, x30, [sp, #-16]!
        .cfi_adjust_cfa_offset 16
        .cfi_rel_offset x19, 0
        .cfi_rel_offset x30, 8
        mov     x19, x0
        mov     x9, x1
        mov     x0, x2
        .cfi_remember_state
        .cfi_escape 0x0f, 3, 0x83, 0, 0x06      // CFA: what lies at x19 + 0
        .cfi_escape 0x10, 30, 2, 0x83, 8        // return address: at x19 + 8
        .cfi_escape 0x10, 19, 2, 0x83, 16       // x19
        .cfi_escape 0x10, 20, 2, 0x83, 24
        .cfi_escape 0x10, 21, 2, 0x83, 32
        .cfi_escape 0x10, 22, 2, 0x83, 40
        .cfi_escape 0x10, 23, 2, 0x83, 48
        .cfi_escape 0x10, 24, 2, 0x83, 56
        .cfi_escape 0x10, 25, 3, 0x83, 0xc0, 0  // 64
        .cfi_escape 0x10, 26, 3, 0x83, 0xc8, 0
        .cfi_escape 0x10, 27, 3, 0x83, 0xd0, 0
        .cfi_escape 0x10, 28, 3, 0x83, 0xd8, 0
        .cfi_escape 0x10, 29, 3, 0x83, 0xe0, 0  // 96
        blr     x9
        nop                                     // the return address still belongs to the call
        .cfi_restore_state
        ldp     x19, x30, [sp], #16
        .cfi_adjust_cfa_offset -16
        .cfi_restore x19
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   clump_call_behind, . - clump_call_behind

        .section .note.GNU-stack, "", %progbits
