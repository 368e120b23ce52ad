// libjpeg-turbo with nothing around it, for the benchmarks: decode to RGB into a buffer of the caller.
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

struct Errors {
  struct jpeg_error_mgr base;  // first, so that the codec's pointer is ours too
  jmp_buf jump;
};

static void Fail(j_common_ptr codec) { longjmp(((struct Errors*)codec->err)->jump, 1); }

const char* bare_version(void) {
#define TEXT(value) #value
#define VERSION(value) TEXT(value)
  return VERSION(LIBJPEG_TURBO_VERSION);
}

// Decodes rows while there is a buffer, else only the header; sides is height, width. 0 is success.
static int Run(const unsigned char* data, size_t size, unsigned char* pixels, int* sides) {
  struct jpeg_decompress_struct codec;
  struct Errors errors;
  codec.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = Fail;
  if (setjmp(errors.jump)) {
    jpeg_destroy_decompress(&codec);
    return 1;
  }
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, data, size);
  jpeg_read_header(&codec, TRUE);
  codec.out_color_space = JCS_RGB;
  if (sides != NULL) {
    sides[0] = (int)codec.image_height;
    sides[1] = (int)codec.image_width;
  }
  if (pixels != NULL) {
    jpeg_start_decompress(&codec);
    const size_t row_bytes = (size_t)codec.output_width * 3;
    while (codec.output_scanline < codec.output_height) {
      JSAMPROW row = pixels + codec.output_scanline * row_bytes;
      jpeg_read_scanlines(&codec, &row, 1);
    }
    jpeg_finish_decompress(&codec);
  }
  jpeg_destroy_decompress(&codec);
  return 0;
}

int bare_size(const unsigned char* data, size_t size, int* sides) { return Run(data, size, NULL, sides); }

int bare_decode(const unsigned char* data, size_t size, unsigned char* pixels) {
  return Run(data, size, pixels, NULL);
}
