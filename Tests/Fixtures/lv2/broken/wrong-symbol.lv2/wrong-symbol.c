/* SPDX-License-Identifier: Apache-2.0 */
const char *lv2_description(void) { return "nobody asks for this"; }
