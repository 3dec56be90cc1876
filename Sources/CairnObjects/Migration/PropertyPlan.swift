// How the value of one property is found and set: what a property mapping says, looked up once.
//
// Copies of attributes go from column to column without an expression, and relationships that are said by a relationship of the
// old object from ids to ids: most mappings say nothing else.
//
// Threads: that of the migration.

import CairnModel
import CairnStore

/// A property mapping, ready to be carried out.
struct PropertyPlan {
    /// What is set.
    enum Target {
        case column(Int)
        case composite(Range<Int>)
        case relationship(Int)
    }

    /// What gives the value.
    enum Origin {
        /// A column of the old object, whose values may have to be converted.
        case column(Int)
        /// The new objects that became of the members of a relationship of the old object, by one mapping or by any.
        case members(Int, mapping: String?)
        /// An expression.
        case expression(ExpressionEvaluator)
        /// A function of the policy.
        case function(String, [ExpressionEvaluator])
        /// Code.
        case code(ValueClosure)
    }

    let name: String
    let target: Target
    let origin: Origin

    /// The plans of a mapping's property; none if nothing is set.
    static func plans(
        of property: PropertyMapping, from source: SchemaEntity?, to destination: SchemaEntity
    ) throws(PredicateFormatError) -> [PropertyPlan] {
        let target: Target
        if let index = destination.relationshipIndex(named: property.name) {
            target = .relationship(index)
        } else if let column = destination.columnIndex(named: property.name) {
            target = .column(column)
        } else if let index = destination.attributeIndex(named: property.name) {
            target = .composite(destination.attributes[index].columns)
        } else {
            return []
        }
        func plan(_ origin: Origin) -> [PropertyPlan] {
            [PropertyPlan(name: property.name, target: target, origin: origin)]
        }
        if let code = property.valueCode as? ValueClosure { return plan(.code(code)) }
        guard let expression = property.valueExpression else { return [] }
        switch (target, expression) {
        case (.column, .path(.variable(MappingTerms.source), let path)):
            if let column = source?.columnIndex(named: path),
                source?.columns[column].attribute != nil
            {
                return plan(.column(column))
            }
        case (.composite(let columns), .path(.variable(MappingTerms.source), let path)):
            return columns.compactMap { column in
                let name = destination.columns[column].name
                let part = name.dropFirst(property.name.count)
                return source?.columnIndex(named: path + part).map {
                    PropertyPlan(name: name, target: .column(column), origin: .column($0))
                }
            }
        case (.relationship, .call(.variable(MappingTerms.manager), let function, let arguments)):
            guard MappingTerms.ManagerFunction(function) == .destinationInstances,
                case .path(.variable(MappingTerms.source), let path)? = arguments.last,
                let relationship = source?.relationshipIndex(named: path)
            else { break }
            guard arguments.count == 2, !MappingTerms.ManagerFunction.namesRelationship(function)
            else { return plan(.members(relationship, mapping: nil)) }
            if case .constant(.string(let mapping)) = arguments[0] {
                return plan(.members(relationship, mapping: mapping))
            }
        default: break
        }
        if case .call(.variable(MappingTerms.entityPolicy), let function, let arguments) =
            expression
        {
            var evaluators: [ExpressionEvaluator] = []
            for argument in arguments { evaluators.append(try ExpressionEvaluator(argument)) }
            return plan(.function(function, evaluators))
        }
        return plan(.expression(try ExpressionEvaluator(expression)))
    }
}
