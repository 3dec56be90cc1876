// What can be given as `CVarArg`: on Apple's platforms every object and what is bridged to one, on Linux only numbers and texts.
//
// Programs write `id as CVarArg` for an argument of a predicate, and have functions of their own that take `CVarArg...`. Predicates
// take the values themselves; formats of texts get what describes them, since Foundation on Linux cannot format other objects.
//
// Threads: any.

public import Foundation

/// A value that can be given as `CVarArg`.
public protocol FormatArgument: _CVarArgObject {}

extension FormatArgument {
    /// What a format of a text gets.
    public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }

    /// Asked of what ``_cVarArgObject`` gives alone.
    public var _cVarArgEncoding: [Int] {
        fatalError("a format gets the description of a \(Self.self)")
    }
}

extension FormatArgument where Self: NSObject {
    /// The address, which a format takes of texts alone.
    public var _cVarArgEncoding: [Int] { _encodeBitsAsWords(self) }
}

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject, FormatArgument {}
extension NSManagedObject: FormatArgument {}
extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, FormatArgument {}
extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, FormatArgument {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, FormatArgument {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, FormatArgument {}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject, FormatArgument {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, FormatArgument {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, FormatArgument {}
