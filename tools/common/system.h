// What the kernel and the processor can do for the scheduler, and what they take away.
#pragma once

namespace clump::tools {

/// User code may write the thread pointer, so that a switch between fibers costs no system call.
bool has_cheap_switches();
/// The kernel can make all threads of a process pass a barrier at once. If not, errno says why.
bool has_membarrier();
/// Of the time since the system started, the part (0 to 1) in which its processors wanted to run and another
/// virtual machine did.
double stolen_time();

}  // namespace clump::tools
