/* The kernel of the ring artifact, and its plan as data: what sp-compile links.
   HOST: for CPUs. Without EMULATION, a program for GPUs has its image only. */
#include "sprt/cuda/Emulated.h"

const char sprt_image[16] = "no code";

static void addTile(void *const *buffers, int64_t tile) {
  const float *block = (const float *)buffers[0];
  float *sum = (float *)buffers[1];
  for (int64_t i = tile * 1024; i < (tile + 1) * 1024; ++i)
    sum[i] += block[i];
}

#ifdef HOST
void add_rows(void *const *buffers, const int64_t *sizes, int64_t firstTile,
              int64_t lastTile, void *scratch) {
  (void)sizes;
  (void)scratch;
  for (int64_t tile = firstTile; tile < lastTile; ++tile)
    addTile(buffers, tile);
}
#endif

#ifdef EMULATION
void add_rows(void *const *arguments, sprt_grid_thread *thread) {
  if (thread->thread == 0)
    addTile(arguments, thread->block);
}
#endif

__asm__(".section .rodata\n"
        ".balign 64\n"
        ".globl sprt_plan, sprt_plan_size, sprt_signatures\n"
        ".type sprt_signatures, @object\n"
        ".type sprt_plan, @object\n"
        ".type sprt_plan_size, @object\n"
        "sprt_plan:\n"
        ".incbin \"" PLAN_FILE "\"\n"
        "1:\n"
        ".size sprt_plan, 1b - sprt_plan\n"
        ".balign 8\n"
        "sprt_plan_size:\n"
        ".quad 1b - sprt_plan\n"
        ".size sprt_plan_size, 8\n"
        ".balign 16\n"
        "sprt_signatures:\n"
        ".incbin \"" PLAN_FILE ".signatures\"\n"
        "2:\n"
        ".size sprt_signatures, 2b - sprt_signatures\n"
        ".text\n");
