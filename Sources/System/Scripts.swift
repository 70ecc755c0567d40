// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether it is a letter of Chinese or Japanese (Unicode 15.0, blocks of Han, kana and bopomofo): these write no blanks
    /// between words, and a line may end after nearly every letter.
    public var isHanOrKana: Bool {
        switch value {
        case 0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303C: true
        case 0x3041...0x30FA, 0x30FC...0x312F, 0x31A0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF: true
        case 0xF900...0xFAFF, 0xFF66...0xFF9F, 0x1B000...0x1B16F, 0x20000...0x3FFFF: true
        default: false
        }
    }

    /// Whether it is a letter of Thai, Lao, Burmese or Khmer, which write blanks between phrases only.
    public var isWrittenInPhrases: Bool {
        switch value {
        case 0x0E01...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x19E0...0x19FF, 0xA9E0...0xA9FF, 0xAA60...0xAA7F: true
        default: false
        }
    }

    /// Whether it is a letter of Korean, which writes blanks between words, but joins their endings to them.
    public var isHangul: Bool {
        switch value {
        case 0x1100...0x11FF, 0x3131...0x318E, 0xA960...0xA97F, 0xAC00...0xD7FF, 0xFFA0...0xFFDC: true
        default: false
        }
    }
}
