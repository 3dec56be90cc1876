// GeoJSON feature collections: how a feature becomes a record.

import Testing

@testable import CairnInspection

@Suite("GeoJSON features")
struct FeatureListTests {
    private func collection(_ features: String...) -> ListSource {
        list(#"{"features":[\#(features.joined(separator: ","))],"type":"FeatureCollection"}"#)
    }

    @Test("properties, id and the coordinates of a point are fields")
    func point() throws {
        let source = collection(
            #"{"type":"Feature","id":"x1","properties":{"mag":1.5},"geometry":{"type":"Point","coordinates":[1.50,-2,3]}}"#,
            #"{"geometry":{"coordinates":[4,5],"type":"Point"},"type":"Feature","bbox":[1,2,3,4],"properties":null}"#,
            #"{"type":"Feature","geometry":null,"properties":{"mag":null}}"#)
        #expect(try ListForm(of: source).isFeatures)
        #expect(
            try records(source) == [
                [
                    "id=string:x1", "mag=number:1.5", "longitude=number:1.50",
                    "latitude=number:-2", "altitude=number:3",
                ], ["longitude=number:4", "latitude=number:5"], ["mag=null:null"],
            ])
    }

    @Test("any other geometry is kept as text")
    func line() throws {
        let source = collection(
            #"{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}"#,
            #"{"type":"Feature","properties":{},"geometry":{"coordinates":[[1,2],[3,4]],"type":"LineString"}}"#
        )
        #expect(
            try records(source) == [
                [#"geometry=nested:{"coordinates":[[1,2],[3,4]],"type":"LineString"}"#],
                [#"geometry=nested:{"coordinates":[[1,2],[3,4]],"type":"LineString"}"#],
            ])
    }

    @Test("a property keeps its name, and the feature's own field gives way, in every feature")
    func clash() throws {
        let source = collection(
            #"{"type":"Feature","id":1,"properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}"#,
            #"{"type":"Feature","id":2,"properties":{"id":"b","latitude":"north"},"geometry":null}"#
        )
        #expect(
            try records(source) == [
                ["featureID=number:1", "longitude=number:1", "featureLatitude=number:2"],
                ["featureID=number:2", "id=string:b", "latitude=string:north"],
            ])
    }

    @Test("another member is a field too, and whatever gives way is not lost")
    func members() throws {
        let source = collection(
            #"{"type":"Feature","longitude":"W","tag":1,"geometry":{"type":"Point","coordinates":[1,2]}}"#,
            #"{"type":"Feature","tag":2,"properties":{"tag":"a"},"geometry":{"type":"Point","coordinates":[3,4]},"longitude":"E"}"#
        )
        #expect(
            try records(source) == [
                [
                    "longitude=string:W", "featureTag=number:1", "featureLongitude=number:1",
                    "latitude=number:2",
                ],
                [
                    "featureTag=number:2", "tag=string:a", "featureLongitude=number:3",
                    "latitude=number:4", "longitude=string:E",
                ],
            ])
    }

    @Test(
        "what is no feature says where and why",
        arguments: [
            (#"{"type":"Point","coordinates":[1,2]}"#, "expected a feature, not a Point"),
            (#"{"type":"Feature","properties":5}"#, "must be an object or null"),
            (#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1]}}"#, "two or three"),
            (
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,"2"]}}"#,
                "two or three"
            ),
            (
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":["x",1,2]}}"#,
                "two or three"
            ),
            (#"{"type":"Feature","geometry":[1,2]}"#, "geometry must be"),
            (#"{"type":"Feature","properties":{"a":1,"a":2}}"#, "the key a twice"),
            (#"{"type":"Feature","id":1,"id":2}"#, "the key id twice"),
            (#"{"type":"Feature","":1}"#, "a field needs a name"),
            (#"{"type":"Feature","properties":{"":1}}"#, "a field needs a name"),
            (
                #"{"type":"Feature","longitude":1,"featureLongitude":2,"geometry":{"type":"Point","coordinates":[1,2]}}"#,
                "featureLongitude twice"
            ),
        ])
    func malformed(feature: String, message: String) throws {
        let error = try #require(try problem(collection(feature)))
        #expect(error.description.contains(message), "\(error)")
        #expect(error.line == 1)
        #expect(error.column != nil)
    }
}
