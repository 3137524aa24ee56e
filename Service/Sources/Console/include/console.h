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

/// The scene of the sample as a phone's sensor delivers it, held in each of the four upright orientations: FLV with H.264,
/// and in the first one AAC. `Scripts/sample_scene.py` writes them.
extern const upright_console_file upright_sample_portrait;
extern const upright_console_file upright_sample_upside_down;
extern const upright_console_file upright_sample_landscape_left;
extern const upright_console_file upright_sample_landscape_right;

/// The OpenAPI 3.1 description of the service's API: `Schemas/openapi.yaml`.
extern const upright_console_file upright_api_description;

#endif
