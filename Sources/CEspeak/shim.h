/* SPDX-License-Identifier: Apache-2.0 */
/* Types and constants only: the library is loaded at run time. */
#include <espeak-ng/speak_lib.h>

/* Addresses of the functions that are used, of the types that the header gives them. */
typedef struct {
  __typeof__(espeak_Initialize) *initialize;
  __typeof__(espeak_Terminate) *terminate;
  __typeof__(espeak_SetSynthCallback) *setCallback;
  __typeof__(espeak_SetVoiceByName) *setVoiceByName;
  __typeof__(espeak_SetVoiceByProperties) *setVoiceByProperties;
  __typeof__(espeak_GetCurrentVoice) *currentVoice;
  __typeof__(espeak_ListVoices) *listVoices;
  __typeof__(espeak_SetParameter) *setParameter;
  __typeof__(espeak_Synth) *synth;
  __typeof__(espeak_TextToPhonemes) *textToPhonemes;
} vg_espeak;
