/* SPDX-License-Identifier: Apache-2.0 */
/* What is used of TensorFlow Lite, which is loaded at run time: functions of its C API, as version 2 has them
 * (tensorflow.org/lite, c_api.h). None of this is for an audio thread. */
#ifndef VG_TFLITE_H
#define VG_TFLITE_H

#include <stddef.h>
#include <stdint.h>

/* What an integer of a tensor stands for: scale * (integer - zero_point). */
typedef struct vg_tflite_quantization {
  float scale;
  int32_t zero_point;
} vg_tflite_quantization;

/* Its functions, by their own names. A status of 0 is success. */
typedef struct vg_tflite {
  void *_Nullable (*_Nullable TfLiteModelCreateFromFile)(const char *_Nonnull path);
  void (*_Nullable TfLiteModelDelete)(void *_Nonnull model);
  void *_Nullable (*_Nullable TfLiteInterpreterCreate)(void *_Nonnull model, const void *_Nullable options);
  void (*_Nullable TfLiteInterpreterDelete)(void *_Nonnull interpreter);
  int (*_Nullable TfLiteInterpreterAllocateTensors)(void *_Nonnull interpreter);
  int (*_Nullable TfLiteInterpreterInvoke)(void *_Nonnull interpreter);
  void *_Nullable (*_Nullable TfLiteInterpreterGetInputTensor)(const void *_Nonnull interpreter, int32_t index);
  const void *_Nullable (*_Nullable TfLiteInterpreterGetOutputTensor)(const void *_Nonnull interpreter, int32_t index);
  int (*_Nullable TfLiteTensorType)(const void *_Nonnull tensor);
  size_t (*_Nullable TfLiteTensorByteSize)(const void *_Nonnull tensor);
  vg_tflite_quantization (*_Nullable TfLiteTensorQuantizationParams)(const void *_Nonnull tensor);
  int (*_Nullable TfLiteTensorCopyFromBuffer)(void *_Nonnull tensor, const void *_Nonnull bytes, size_t count);
  int (*_Nullable TfLiteTensorCopyToBuffer)(const void *_Nonnull tensor, void *_Nonnull bytes, size_t count);
} vg_tflite;

/* Numbers of TfLiteType. */
enum { VG_TFLITE_UINT8 = 3, VG_TFLITE_INT8 = 9 };

#endif
