// A thumbnail in C++: the upright frame at a second, as PPM on standard output.  thumbnail INPUT SECONDS
#include <cstdio>
#include <cstdlib>
#include <upright.h>

int main(int, char **arguments) {
  upright_reader *reader;
  upright_read_frame read = {sizeof read};
  if (upright_reader_new(arguments[1], R"({"pixels": "rgb24"})", &reader, nullptr)) return 1;
  upright_reader_seek(reader, std::atof(arguments[2]), nullptr);
  if (upright_reader_next(reader, &read, nullptr)) return 1;
  std::printf("P6 %d %d 255\n", read.frame.width, read.frame.height);
  for (int y = 0; y < read.frame.height; y++)
    std::fwrite(read.frame.planes[0] + y * read.frame.strides[0], 3, read.frame.width, stdout);
  return upright_reader_free(reader);
}
