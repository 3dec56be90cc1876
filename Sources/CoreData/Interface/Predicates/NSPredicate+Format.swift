// Predicates of formats, with Core Data's names.
//
// Foundation on Linux has the class without formats, and a convenience initializer in an extension of it could only fill one of
// its own objects. An initializer of a protocol may give any object: so a format becomes the class that it does on Apple's
// platforms, `NSComparisonPredicate` or `NSCompoundPredicate`, which say what they are made of.
//
// Threads: predicates do not change; any.

import CairnModel
import CairnObjects
public import Foundation

/// What has the initializers of formats: `NSPredicate` and its subclasses.
public protocol PredicateOfFormat {}

extension NSPredicate: PredicateOfFormat {}

extension PredicateOfFormat where Self: NSPredicate {
    /// The predicate of a format.
    ///
    /// ```swift
    /// NSPredicate(format: "%K >= %@ AND author == %@", "published", date, author)
    /// ```
    ///
    /// Arguments are numbers, texts, dates, `UUID`, `URL`, `Data`, objects and their ids, collections of these, expressions, and nil;
    /// for `%K` also key paths. A format that cannot be read ends the program with a sentence that says where it is wrong.
    public init(format predicateFormat: String, _ args: Any?...) {
        self.init(format: predicateFormat, anyArguments: args)
    }

    /// The predicate of a format with its arguments in an array.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(format: predicateFormat, anyArguments: arguments ?? [])
    }

    /// The predicate of a `#Predicate`; nil if there is something in it that no store can be asked.
    ///
    /// ```swift
    /// request.predicate = NSPredicate(#Predicate<Book> { $0.year > 1990 && $0.author?.name == name })
    /// ```
    public init?<Input: NSManagedObject>(_ predicate: Predicate<Input>) {
        guard let node = try? PredicateNode(predicate, name: KeyNames.knownName(of:)),
            let made = NSPredicate.predicate(for: node) as? Self
        else { return nil }
        self = made
    }

    private init(format: String, anyArguments arguments: [Any?]) {
        let arguments = PredicateArguments(arguments)
        let node: PredicateNode
        do throws(PredicateFormatError) {
            node = try PredicateNode(format: format, arguments: arguments.list)
        } catch {
            fatalError("the predicate cannot be read: \(error.explanation)")
        }
        let made = NSPredicate.predicate(for: node, arguments.unsaved)
        guard let made = made as? Self else {
            fatalError("\(format) is no \(Self.self), but a \(type(of: made))")
        }
        self = made
    }
}

extension NSPredicate {
    /// The same predicate with values in the place of its variables. A variable without a value ends the program with a sentence.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        guard let made = substituting(variables) as? Self else {
            preconditionFailure("a predicate keeps its class when values are put in")
        }
        return made
    }

    private func substituting(_ variables: [String: Any]) -> NSPredicate {
        if let node = try? node {
            var unsaved = unsaved
            let values = PredicateArguments.values(variables, &unsaved)
            do throws(PredicateFormatError) {
                return .predicate(for: try node.substituting(variables: values), unsaved)
            } catch {
                fatalError(error.message)
            }
        }
        // A closure inside takes its values when it is called.
        guard let compound = self as? Foundation.NSCompoundPredicate else { return self }
        return NSCompoundPredicate(
            type: compound.compoundPredicateType,
            subpredicates: compound.subpredicates.map { $0.substituting(variables) })
    }
}
