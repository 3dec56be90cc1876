// What becomes of the parts of a GeoJSON feature.                                     RFC 7946
//
// A property is called as it is called. Beside the properties there are the feature's id and its place:
// `id`, `longitude`, `latitude` and `altitude` of a point, `geometry` as JSON text of anything else. Where
// a property has such a name already, the property keeps it, and the feature's own is called `featureID`,
// `featureLongitude` and so on. Other members of a feature are fields like properties; `bbox` is dropped.

/// The names of the fields that are a feature's own.
package struct FeatureNames: Sendable, Hashable {
    static let type = Array("type".utf8)
    static let feature = Array("Feature".utf8)
    static let collection = Array("FeatureCollection".utf8)
    static let features = Array("features".utf8)
    static let properties = Array("properties".utf8)
    static let geometry = Array("geometry".utf8)
    static let boundingBox = Array("bbox".utf8)
    static let id = Array("id".utf8)
    /// The names a feature's own fields have if no property has them.
    static let own = ["id", "longitude", "latitude", "altitude", "geometry"].map { Array($0.utf8) }

    package let id: [UInt8]
    package let longitude: [UInt8]
    package let latitude: [UInt8]
    package let altitude: [UInt8]
    package let geometry: [UInt8]

    /// The names beside properties with these names.
    package init(properties: Set<[UInt8]> = []) {
        func name(_ plain: String, _ other: String) -> [UInt8] {
            Array((properties.contains(Array(plain.utf8)) ? other : plain).utf8)
        }
        id = name("id", "featureID")
        longitude = name("longitude", "featureLongitude")
        latitude = name("latitude", "featureLatitude")
        altitude = name("altitude", "featureAltitude")
        geometry = name("geometry", "featureGeometry")
    }
}

/// The coordinates of a GeoJSON point, as they are written.
struct PointGeometry {
    /// Longitude, latitude, and altitude if it has one.
    private(set) var coordinates: [[UInt8]] = []

    /// Reads a geometry; nil if it is no point.
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
                    // Not a point, or a broken one: what the type says decides.
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
