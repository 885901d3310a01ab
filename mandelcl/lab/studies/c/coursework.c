/* The coursework's sequential program, function by function: iterate, colour, write. `pixels` are width × height of
 * three bytes, the row of the least imaginary part first. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

enum { LIMIT = 255, COLOURS = 16 };

static const unsigned char COLOUR[COLOURS][3] = {
    {66, 30, 15},    {25, 7, 26},     {9, 1, 47},      {4, 4, 73},
    {0, 7, 100},     {12, 44, 138},   {24, 82, 177},   {57, 125, 209},
    {134, 181, 229}, {211, 236, 248}, {241, 233, 191}, {248, 201, 95},
    {255, 170, 0},   {204, 128, 0},   {153, 87, 0},    {106, 52, 3},
};

/* Write the counter of each pixel of some rows to its three bytes; it is 0 where no orbit leaves. Where `*stop` is not
 * 0, what is left is not computed. */
void iterate(int width, int height, int first, int rows, unsigned char *pixels, const volatile int *stop)
{
    const double scale = 1. / (width / 4);
    for (int row = first; row < first + rows && !*stop; row++) {
        const double y = (row - height / 2) * scale;
        unsigned char *pixel = pixels + (ptrdiff_t)row * width * 3;
        for (int column = 0; column < width; column++, pixel += 3) {
            const double x = (column - width / 2) * scale - .6;
            const double q = hypot(x - .25, y);
            unsigned char count = x < q - 2 * q * q + .25 ? LIMIT : 0; /* the cardioid */
            double zx = 0, zy = 0, xx = 0, yy = 0;
            do {
                zy = 2 * zx * zy + y;
                zx = xx - yy + x;
                xx = zx * zx;
                yy = zy * zy;
            } while (count++ < LIMIT && xx + yy < 4);
            pixel[0] = pixel[1] = pixel[2] = count;
        }
    }
}

/* Replace counters by colours. */
void colour(int width, int height, unsigned char *pixels)
{
    for (unsigned char *pixel = pixels, *end = pixels + (ptrdiff_t)height * width * 3; pixel < end; pixel += 3) {
        const int inside = pixel[0] == 0 || pixel[0] == LIMIT, shade = pixel[0] % COLOURS;
        for (int part = 0; part < 3; part++)
            pixel[part] = inside ? 0 : COLOUR[shade][part];
    }
}

/* Write a binary PPM, row by row, the last one first; return 0, or 1 where that fails. */
int write_picture(const char *path, int width, int height, const unsigned char *pixels)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return 1;
    int failed = fprintf(file, "P6\n%d %d\n255\n", width, height) < 0;
    for (int row = height - 1; row >= 0 && !failed; row--)
        failed = fwrite(pixels + (ptrdiff_t)row * width * 3, 3, (size_t)width, file) != (size_t)width;
    return fclose(file) != 0 || failed;
}
