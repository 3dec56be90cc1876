// How wide a text is, without a font.
//
// Widths are those of a wide sans serif (Verdana, DejaVu Sans): what fits by them fits in others.
//
// Threads: values.

/// The width of texts.
enum TextWidth {
    /// The width of a text in a size.
    static func of(_ text: String, size: Double, bold: Bool = false) -> Double {
        var width = 0.0
        for character in text { width += Self.width(character) }
        return width * size * (bold ? 1.16 : 1)
    }

    /// A text that is no wider than that: cut, with an ellipsis, where it is.
    static func cut(_ text: String, to width: Double, size: Double, bold: Bool = false) -> String {
        if of(text, size: size, bold: bold) <= width { return text }
        var left = width / (size * (bold ? 1.16 : 1)) - Self.width("…")
        var result = ""
        for character in text {
            left -= Self.width(character)
            if left < 0 { break }
            result.append(character)
        }
        return result.isEmpty ? "" : result + "…"
    }

    private static func width(_ character: Character) -> Double {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar {
        case "i", "j", "l", "'", "|": return 0.29
        case " ", ".", ",", ":", ";", "I", "!": return 0.33
        case "f", "t", "r", "(", ")", "[", "]", "-", "/", "\\": return 0.41
        case "m", "M", "W", "w", "@", "%", "…", "→", "⇉": return 0.95
        case "a"..."z": return 0.61
        case "A"..."Z": return 0.7
        case "0"..."9": return 0.64
        default: return scalar.value < 0x1100 ? 0.66 : 1.05
        }
    }
}
