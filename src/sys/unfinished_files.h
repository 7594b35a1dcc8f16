#pragma once

namespace wheelsmith::sys {

// Removes the temporary files of this process's AtomicFiles. For handlers of signals that end the process: it uses no
// memory and no locks. Other threads may still be writing; their files are gone afterwards.
void remove_unfinished_files();

}  // namespace wheelsmith::sys
