/// Files that tools write, whole or not at all, and through what is no file;
/// and those that they read.
///
/// What is at a path decides how it is written:
///
///   nothing, a regular file   a draft beside it, renamed when it is complete
///   a link                    what it leads to, in the same way
///   a FIFO, a device, …       its bytes go into it; a FIFO waits for a reader
///   a directory, a socket     refused
#ifndef SPRT_FILES_H
#define SPRT_FILES_H

#include "sprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Whether `path` can be written, found out without changing it: asked before
/// long work.
SPRT_API sprt_status *sprt_file_check(const char *path);

/// Writes these bytes. A write that fails, at the end too, is a status that
/// names the path; a regular file is then as it was.
SPRT_API sprt_status *sprt_file_write(const char *path, const void *data,
                                      size_t bytes);

/// Whether `path` leads to a regular file that can be read: others have no end
/// that is known, or none at all.
SPRT_API sprt_status *sprt_file_check_input(const char *path);

#ifdef __cplusplus
}
#endif

#endif // SPRT_FILES_H
