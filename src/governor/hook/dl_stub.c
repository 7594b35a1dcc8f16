/* Replaces libdl.so.2 when the exec hook is linked: the hook then needs that library, where older C libraries have
   dlsym, without this machine's symbol version. */
int wheelsmith_nothing_here;
