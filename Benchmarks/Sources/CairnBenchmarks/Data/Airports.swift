// Real data: the two releases of the list of airports that `cairn quickstart` has, whose source file this
// package links. The list is small, so it is repeated with a suffix of the code.
//
// It has the shape of the other rows, so that every peer keeps it in the same table: the code with its
// suffix, name and city, latitude as price, elevation as quantity, longitude, country, hemisphere.

enum Airports {
    /// As of 2010: 57 rows again and again, each time with another suffix.
    static func first(_ count: Int) -> [Product] { rows(AirportReleases.first, count) }
    /// As of 2024: most rows are equal to those of the first release.
    static func second(_ count: Int) -> [Product] { rows(AirportReleases.second, count) }

    private static func rows(_ list: String, _ count: Int) -> [Product] {
        let lines = list.split(separator: "\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let rounds = (count + lines.count - 1) / lines.count
        return (0..<rounds).flatMap { round in
            lines.map { line in
                Product(
                    serialCode: "\(line[0])-\(round)", name: "\(line[2]), \(line[3])",
                    price: Double(line[6]) ?? 0, quantity: Int64(line[5]) ?? 0,
                    updatedAt: Double(line[7]) ?? 0, category: line[4],
                    flag: (Double(line[6]) ?? 0) < 0)
            }
        }
    }
}
