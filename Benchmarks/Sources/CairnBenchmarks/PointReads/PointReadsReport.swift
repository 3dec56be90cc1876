// What lookups in stores of many sizes cost, as a table.

import Foundation

struct PointReadsReport {
    /// One peer at one size, with one size of its cache.
    struct Line {
        let peer: String
        let rows: Int
        /// Nil: it has the cache that its settings say.
        let cacheMiB: Int?
        let bytesPerRow: Double
        /// By the spread of the keys.
        var figures: [String: PointReadFigures] = [:]

        var text: String {
            var parts = [
                TextReport.grouped(rows).leading(11), peer.trailing(14),
                (cacheMiB.map { "\($0) MiB" } ?? "-").leading(9),
                String(format: "%6.1f B", bytesPerRow),
            ]
            for spread in KeySpread.allCases {
                guard let figures = figures[spread.rawValue] else { continue }
                parts.append(
                    TextReport.text(seconds(spread), .seconds).leading(9)
                        + String(
                            format: " %6.3f",
                            Double(figures.faults) / Double(max(1, figures.lookups)))
                        + "\(figures.residentKiB / 1024) MiB".leading(10)
                        + "\(figures.anonymousKiB / 1024) MiB".leading(10))
            }
            return parts.joined(separator: "  ")
        }

        /// What a lookup takes.
        func seconds(_ spread: KeySpread) -> Double {
            guard let figures = figures[spread.rawValue] else { return 0 }
            return figures.seconds / Double(max(1, figures.lookups))
        }
    }

    let date: String
    let machine: Machine
    let lookups: Int
    let settings: [String: String]
    var lines: [Line] = []

    var head: String {
        let setUp = PeerEntry.all.compactMap { entry in
            settings[entry.name].map { "  \(entry.name): \($0)" }
        }
        return """
            \(date), Cairn \(machine.cairn), \(machine.text)
            \(TextReport.grouped(lookups)) lookups by unique key to a struct, one request each, after as many others; files in the \
            system's memory. For uniform keys and for zipfian ones (constant 0.99): time of a lookup, page faults of a lookup, \
            resident memory at the end, and what of it is not of mapped files.
            How the peers are set up:
            \(setUp.joined(separator: "\n"))

            \("rows".leading(11))  \("peer".trailing(14))  \("cache".leading(9))  \("a row".leading(8))  \
            \("uniform".leading(9)) \("faults".leading(6))\("resident".leading(10))\("anonymous".leading(10))  \
            \("zipfian".leading(9)) \("faults".leading(6))\("resident".leading(10))\("anonymous".leading(10))
            """
    }

    var text: String { ([head] + lines.map(\.text) + [""]).joined(separator: "\n") }
}

extension String {
    /// The text with spaces before it.
    fileprivate func leading(_ length: Int) -> String {
        String(repeating: " ", count: max(0, length - count)) + self
    }

    /// The text with spaces behind it.
    fileprivate func trailing(_ length: Int) -> String {
        self + String(repeating: " ", count: max(0, length - count))
    }
}
