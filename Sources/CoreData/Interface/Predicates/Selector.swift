// The name of a method, which on Apple's platforms Objective-C has a type for.

/// The name of a method, as Objective-C writes it. Where a program has `#selector(NSString.localizedStandardCompare(_:))`, write
/// `Selector("localizedStandardCompare:")`.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name.
    public let description: String

    /// The method of a name.
    public init(_ name: String) { description = name }

    /// The method of a name.
    public init(stringLiteral name: String) { description = name }
}

/// The method of a name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }

/// The name of a method.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.description }
