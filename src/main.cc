#include "cli/main.h"

int main(int argc, char** argv) { return wheelsmith::cli::run(argc, argv); }
