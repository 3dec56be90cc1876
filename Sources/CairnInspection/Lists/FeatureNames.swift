// The field names for the parts of a GeoJSON feature.                                     RFC 7946
//
// A property keeps its name. In addition to the properties there are the feature's id and its position: `id`;
// `longitude`, `latitude` and `altitude` of a point, `geometry` as JSON text for anything else; and all other
// members of a feature except `bbox`, which is dropped. If a property already has such a name, the property
// keeps it, and the feature's field is named `featureID`, `featureLongitude` and so on. Another member yields
// its name to a property in the same way, and the position yields its names to such a member.

/// The names of a feature's own fields.
package struct FeatureNames: Sendable, Hashable {
    static let type = Array("type".utf8)
    static let feature = Array("Feature".utf8)
    static let collection = Array("FeatureCollection".utf8)
    static let features = Array("features".utf8)
    static let properties = Array("properties".utf8)
    static let geometry = Array("geometry".utf8)
    static let boundingBox = Array("bbox".utf8)
    static let id = Array("id".utf8)
    /// The members of a feature that are not fields under their own names.
    static let standard: Set<[UInt8]> = [type, geometry, properties, boundingBox, id]

    package let id: [UInt8]
    package let longitude: [UInt8]
    package let latitude: [UInt8]
    package let altitude: [UInt8]
    package let geometry: [UInt8]

    /// The members that yield their names to a property, and their new names.
    private let renamed: [[UInt8]: [UInt8]]

    /// Creates the names for features with these properties and other members.
    package init(properties: Set<[UInt8]> = [], members: Set<[UInt8]> = []) {
        func name(_ plain: String, _ other: String, _ taken: Set<[UInt8]>) -> [UInt8] {
            Array((taken.contains(Array(plain.utf8)) ? other : plain).utf8)
        }
        let taken = properties.union(members)
        id = name("id", "featureID", properties)
        longitude = name("longitude", "featureLongitude", taken)
        latitude = name("latitude", "featureLatitude", taken)
        altitude = name("altitude", "featureAltitude", taken)
        geometry = name("geometry", "featureGeometry", properties)
        var renamed = [FeatureNames.id: id]
        for member in members.intersection(properties) {
            let text = String(decoding: member, as: UTF8.self)
            renamed[member] = Array("feature\(text.prefix(1).uppercased())\(text.dropFirst())".utf8)
        }
        self.renamed = renamed
    }

    /// Returns the field name of a feature's member.
    func name(ofMember key: [UInt8]) -> [UInt8] { renamed[key] ?? key }
}

/// The coordinates of a GeoJSON point, as they are written.
struct PointGeometry {
    /// Longitude, latitude, and altitude if it has one.
    private(set) var coordinates: [[UInt8]] = []

    /// Reads a geometry; returns nil if it is not a point.
    init?(json: [UInt8]) throws(ListError) {
        var scanner = try JSONScanner(MemoryByteStream(json), capacity: max(json.count, 1))
        guard try scanner.kind() == .object else {
            throw ListError("a feature's geometry must be an object or null")
        }
        try scanner.enterObject()
        var (key, isFirst, isPoint, areNumbers) = ([UInt8](), true, false, true)
        while try scanner.nextKey(into: &key, isFirst: &isFirst) {
            let kind = try scanner.kind()
            if key == FeatureNames.type, kind == .string {
                var type: [UInt8] = []
                try scanner.takeString(into: &type)
                guard type == Array("Point".utf8) else { return nil }
                isPoint = true
            } else if key == Array("coordinates".utf8), kind == .array {
                try scanner.enterArray()
                var isFirst = true
                while try scanner.nextElement(isFirst: &isFirst) {
                    // Not a point, or an invalid one: the type decides.
                    guard try scanner.kind() == .number else {
                        try scanner.skipValue()
                        areNumbers = false
                        continue
                    }
                    var number: [UInt8] = []
                    try scanner.takeNumber(into: &number)
                    coordinates.append(number)
                }
            } else {
                try scanner.skipValue()
            }
        }
        guard isPoint else { return nil }
        guard areNumbers, (2...3).contains(coordinates.count) else {
            throw ListError("a point's coordinates must be two or three numbers")
        }
    }
}
