/* Stands for libdl.so.2 when the exec hook is linked: the hook then names that library, where older C libraries keep
   dlsym, without the version of the one on this machine. */
int wheelsmith_nothing_here;
