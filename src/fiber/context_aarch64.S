// clump_switch_context and clump_leave_kernel_thread for aarch64: see context.h. A suspended stack holds, from
// its bottom up: x29 and x30, x19 to x28, d8 to d15, FPCR, and FPSR (0 if it is not kept: float_flags.h).
#include <asm/unistd.h>

#define FRAME 176
#define FPCR_AT 160
#define FPSR_AT 168
#define FUTEX_WAIT_PRIVATE 128

        .text

        .macro save_registers
        sub     sp, sp, #FRAME
        .cfi_adjust_cfa_offset FRAME
        stp     x29, x30, [sp, #0]
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        stp     x19, x20, [sp, #16]
        .cfi_rel_offset x19, 16
        .cfi_rel_offset x20, 24
        stp     x21, x22, [sp, #32]
        .cfi_rel_offset x21, 32
        .cfi_rel_offset x22, 40
        stp     x23, x24, [sp, #48]
        .cfi_rel_offset x23, 48
        .cfi_rel_offset x24, 56
        stp     x25, x26, [sp, #64]
        .cfi_rel_offset x25, 64
        .cfi_rel_offset x26, 72
        stp     x27, x28, [sp, #80]
        .cfi_rel_offset x27, 80
        .cfi_rel_offset x28, 88
        stp     d8, d9, [sp, #96]
        .cfi_rel_offset d8, 96
        .cfi_rel_offset d9, 104
        stp     d10, d11, [sp, #112]
        .cfi_rel_offset d10, 112
        .cfi_rel_offset d11, 120
        stp     d12, d13, [sp, #128]
        .cfi_rel_offset d12, 128
        .cfi_rel_offset d13, 136
        stp     d14, d15, [sp, #144]
        .cfi_rel_offset d14, 144
        .cfi_rel_offset d15, 152
        mrs     x9, fpcr
        str     x9, [sp, #FPCR_AT]
        adrp    x14, clump_keeps_float_flags
        ldrb    w14, [x14, #:lo12:clump_keeps_float_flags]
        mov     x15, #0
        cbz     w14, .Lno_flags\@
        mrs     x15, fpsr
.Lno_flags\@:
        str     x15, [sp, #FPSR_AT]
        mov     x10, sp
        str     x10, [x0]
        .endm

        .globl  clump_switch_context
        .hidden clump_switch_context
        .type   clump_switch_context, %function
        .p2align 5
clump_switch_context:
        .cfi_startproc
        save_registers
        ldp     x11, x12, [x1]
        msr     tpidr_el0, x12
        mov     sp, x11
        // Setting it is slow, and it seldom differs.
        ldr     x13, [sp, #FPCR_AT]
        cmp     x13, x9
        b.eq    .Lhave_fpcr
        msr     fpcr, x13
.Lhave_fpcr:
        cbz     w14, .Lhave_fpsr
        ldr     x13, [sp, #FPSR_AT]
        cmp     x13, x15
        b.eq    .Lhave_fpsr
        msr     fpsr, x13
.Lhave_fpsr:
        ldp     x29, x30, [sp, #0]
        ldp     x19, x20, [sp, #16]
        ldp     x21, x22, [sp, #32]
        ldp     x23, x24, [sp, #48]
        ldp     x25, x26, [sp, #64]
        ldp     x27, x28, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #FRAME
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        .cfi_restore x19
        .cfi_restore x20
        .cfi_restore x21
        .cfi_restore x22
        .cfi_restore x23
        .cfi_restore x24
        .cfi_restore x25
        .cfi_restore x26
        .cfi_restore x27
        .cfi_restore x28
        .cfi_restore d8
        .cfi_restore d9
        .cfi_restore d10
        .cfi_restore d11
        .cfi_restore d12
        .cfi_restore d13
        .cfi_restore d14
        .cfi_restore d15
        ret                             // x0 is still `from`
        .cfi_endproc
        .size   clump_switch_context, . - clump_switch_context

        .globl  clump_leave_kernel_thread
        .hidden clump_leave_kernel_thread
        .type   clump_leave_kernel_thread, %function
        .p2align 5
clump_leave_kernel_thread:
        .cfi_startproc
        save_registers
        // From here on this kernel thread uses no stack: signals are blocked, and a system call needs none.
        adrp    x9, clump_parked_stack
        add     x9, x9, :lo12:clump_parked_stack
        mov     sp, x9
        stlr    wzr, [x1]               // release: pairs with the acquire in Fiber::left_behind()
.Lsleep:
        adrp    x0, always_zero
        add     x0, x0, :lo12:always_zero
        mov     x1, #FUTEX_WAIT_PRIVATE
        mov     x2, #0
        mov     x3, #0
        mov     x8, #__NR_futex
        svc     #0
        b       .Lsleep
        .cfi_endproc
        .size   clump_leave_kernel_thread, . - clump_leave_kernel_thread

        .local  always_zero
        .comm   always_zero, 4, 4
        .bss
        .p2align 6
unused_stack:
        .zero   256
        .globl  clump_parked_stack
        .hidden clump_parked_stack
clump_parked_stack:

        // What context.h declares for all processors: the thread pointer can always be written.
        .globl  clump_has_fsgsbase
        .hidden clump_has_fsgsbase
        .data
clump_has_fsgsbase:
        .byte   1

        .section .note.GNU-stack, "", %progbits
