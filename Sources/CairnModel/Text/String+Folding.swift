// Strings without case and diacritics, the same in every locale.
//
//   1. ASCII needs nothing but small letters.
//   2. Else every scalar is decomposed canonically, so that both ways to write a letter are one.
//   3. Case: every scalar goes to its capital letters and from there to small ones, so that `ß` is `ss`.
//   4. Accents: what is a mark without room of its own goes; where accents matter, all is composed again.

@_spi(_Unicode) import Swift

extension String {
    /// The string for comparisons that ignore case, diacritics, or both.
    package func folded(case isCaseless: Bool, diacritics isPlain: Bool) -> String {
        if utf8.allSatisfy({ $0 < 0x80 }) {
            guard isCaseless else { return self }
            return String(
                decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
        }
        var scalars = String.UnicodeScalarView()
        for scalar in _nfd {
            if isPlain, scalar.properties.generalCategory == .nonspacingMark { continue }
            guard isCaseless else {
                scalars.append(scalar)
                continue
            }
            for capital in scalar.properties.uppercaseMapping.unicodeScalars {
                // The mapping of some letters has marks of its own.
                for small in capital.properties.lowercaseMapping.unicodeScalars
                where !isPlain || small.properties.generalCategory != .nonspacingMark {
                    scalars.append(small)
                }
            }
        }
        // A mark that stays belongs to its letter: `cafe` must not be found in `café`.
        return isPlain ? String(scalars) : Self.composed(scalars)
    }
}

extension String {
    private static func composed(_ scalars: UnicodeScalarView) -> String {
        var composed = UnicodeScalarView()
        for scalar in String(scalars)._nfc { composed.append(scalar) }
        return String(composed)
    }
}
