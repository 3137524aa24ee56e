#ifndef UPRIGHT_CONSOLE_H
#define UPRIGHT_CONSOLE_H

#include <stddef.h>

/// A file of the console.
typedef struct {
  const char *_Nonnull name;
  const unsigned char *_Nonnull bytes;
  size_t size;
} upright_console_file;

/// Returns a file of `Pages` by its number, or NULL past the last one.
const upright_console_file *_Nullable upright_console_file_at(size_t index);

/// The sample of a phone that turns: `Samples/clips/turning-sensor.mp4`.
extern const upright_console_file upright_sample_clip;

/// The events of that file, as JSON Lines.
extern const upright_console_file upright_sample_events;

/// The OpenAPI 3.1 description of the service's API: `Schemas/openapi.yaml`.
extern const upright_console_file upright_api_description;

#endif
