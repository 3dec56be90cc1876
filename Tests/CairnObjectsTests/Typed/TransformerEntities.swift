// Entities whose values transformers store, and others whose names are awkward. Entities stand at file level.

import Cairn
import Foundation

/// A value that is neither Codable nor anything else that a store knows.
struct Paint: Equatable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8
}

struct BadPaint: Error {}

enum PaintTransformer: AttributeTransformer {
    static func data(from paint: Paint) -> Data { Data([paint.red, paint.green, paint.blue]) }

    static func value(from data: Data) throws -> Paint {
        guard data.count == 3 else { throw BadPaint() }
        let bytes = Array(data)
        return Paint(red: bytes[0], green: bytes[1], blue: bytes[2])
    }
}

@Entity
final class TypedPencil: ManagedObject {
    var name: String = ""
    @Attribute(.transformable(by: PaintTransformer.self)) var paint: Paint?
    @Attribute(.transformable(by: PaintTransformer.self)) var core: Paint = Paint(
        red: 1, green: 2, blue: 3)
    @Attribute(.transformable(by: PaintTransformer.self), .ephemeral) var shown: Paint?
    @Attribute(.codable) var shade: Shade = .light
    @Attribute(.codable) var otherShade: Shade?

    func validatePaint(_ value: inout Paint?) throws {
        if value?.red == 0 { throw BadPaint() }
        if value?.green == 7 { value?.green = 8 }
    }
}

/// Structs and entities inside other types.
enum Workshop {
    @Composite
    struct Corner: Equatable {
        var x: Int = 0
        var note: String?

        @Composite
        struct Mark: Equatable {
            var letter: String = "-"
        }
    }

    @Entity
    final class Bench: ManagedObject {
        var corner: Corner = Corner()
        var mark: Corner.Mark?
        var own: Leg = Leg()

        @Composite
        struct Leg: Equatable {
            var height: Double = 1
        }
    }
}

/// Names that generated code uses itself, or that Swift writes in backticks.
@Composite
struct AwkwardParts: Equatable {
    var writer: String = "w"
    var reader: Int = 1
    var value0: Double = 2
    var `default`: Bool = true
    var kind: String?
}

@Entity
class TypedAwkward: ManagedObject {
    #Index<TypedAwkward>([\.`default`, \.binding])
    var binding: String = "b"
    var Parent: Int = 1
    var parent: String?
    var properties: [String] = []
    var path: String = "p"
    var property: Int = 2
    var `default`: Int = 3
    var `class`: String?
    var `init`: Int = 4
    var `subscript`: Int = 5
    var snapshot: Int = 6
    var version: Int = 7
    var objectVersion: Int = 8
    var values: [Int] = [1]
    var parts: AwkwardParts = AwkwardParts()
    @Relationship(inverse: "in") var `extension`: TypedAwkward?
    var `in`: Set<TypedAwkward>
}

@Entity
final class TypedAwkwardChild: TypedAwkward {
    var child: Int = 9
    var `self_`: Int = 10
}
