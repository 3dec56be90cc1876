// What the model says about the values of an object that is saved.
//
// Each property is judged by itself: nil first, then the limits of its type, then the validation predicates. What an
// object's own class has to say comes after that, see ManagedObject+OwnValidation.
//
// A mandatory property may not be nil; numbers, dates and text have limits; text may have a pattern, which
// the whole of it must match; a to-many relationship has a least and a greatest number of members, of which
// the least counts for an empty optional one only once it has a member. A mandatory to-many without a least
// number may be empty.

import CairnModel
import CairnStore
import FoundationEssentials

extension ManagedObject {
    /// - Throws: `StoreError` with all that is wrong.
    final func validateProperties() throws {
        let rules = scope.rules
        if rules.own.isNone, type(of: self) == scope.type {
            let errors = modelErrors(rules)
            if errors.isEmpty { return }
            if let error = StoreError.combining(errors) { throw error }
        } else {
            try validateOwn(rules)
        }
    }

    /// What the model forbids of the properties that were set, all of it.
    final func modelErrors(_ rules: EntityRules) -> [StoreError] {
        // The values of a fault are as they were saved.
        let hasValues = isFulfilled && (slots != nil || isInserted)
        let isLacking = hasValues && lacksMandatory(rules)
        var errors = refusalErrors
        if !isLacking, rules.limited.isEmpty, rules.counted.isEmpty { return errors }
        if isLacking {
            for column in entity.columns.indices { validate(column, &errors) }
        } else if hasValues {
            for column in rules.limited { validate(column, &errors) }
        }
        for index in rules.counted { validateCount(index, &errors) }
        return errors
    }

    /// Whether a mandatory column may be nil: exact for new objects, and for edits of stored ones.
    private func lacksMandatory(_ rules: EntityRules) -> Bool {
        guard let slots = ownSlots else { return isInserted }
        return slots.lacks(rules, isNew: isInserted)
    }

    final func failure(
        _ code: StoreError.Code, _ message: String, key: String, value: Value? = nil,
        predicate: PredicateNode? = nil
    ) -> StoreError {
        StoreError(
            code, message,
            context: .init(
                entity: entity.name, key: key, objectID: objectID, value: value,
                predicate: predicate))
    }

    private func validate(_ index: Int, _ errors: inout [StoreError]) {
        if !isInserted, !hasEdit(index) { return }
        // What it was set to is no value yet, and is told of already.
        if isRefused(column: index) { return }
        validate(presentValue(index), column: index, &errors)
    }

    /// Notes what the model forbids of a value for a column.
    final func validate(_ value: Value, column index: Int, _ errors: inout [StoreError]) {
        let column = entity.columns[index]
        if value.isNull {
            let isDerived = column.attribute?.derivationExpression != nil
            if !column.isOptional && !isDerived {
                errors.append(
                    failure(.missingMandatory, "a required property is nil", key: column.name))
            }
            return
        }
        guard let attribute = column.attribute else { return }
        func check(_ code: StoreError.Code, _ isBad: Bool, _ message: @autoclosure () -> String) {
            if isBad { errors.append(failure(code, message(), key: column.name, value: value)) }
        }
        if case .date(let date) = value, !date.timeIntervalSinceReferenceDate.isFinite {
            return check(.invalidDate, true, "the date is not finite")
        }
        if case .decimal(let number) = value, number.isNaN {
            return check(.invalidDate, true, "the decimal number is not a number (NaN)")
        }
        if let least = attribute.minimumValue, let order = order(value, least) {
            check(
                isDate(value) ? .dateTooEarly : .numberTooSmall, order < 0,
                "the value is less than \(least)")
        }
        if let most = attribute.maximumValue, let order = order(value, most) {
            check(
                isDate(value) ? .dateTooLate : .numberTooLarge, order > 0,
                "the value is greater than \(most)")
        }
        if case .string(let text) = value {
            validate(text, attribute, column, check)
        }
        guard let conditions = scope.rules.conditions[index] else { return }
        let value = readable(value)
        for condition in conditions where !condition.holds(for: value) {
            errors.append(
                failure(
                    .validation,
                    condition.warning ?? "the value violates a validation rule of the model",
                    key: column.name, value: value, predicate: condition.predicate))
        }
    }

    private func validate(
        _ text: String, _ attribute: AttributeDescription, _ column: SchemaColumn,
        _ check: (StoreError.Code, Bool, @autoclosure () -> String) -> Void
    ) {
        if let least = attribute.minimumLength {
            check(
                .stringTooShort, text.count < least, "the string has fewer than \(least) characters"
            )
        }
        if let most = attribute.maximumLength {
            check(.stringTooLong, text.count > most, "the string has more than \(most) characters")
        }
        if let pattern = attribute.regularExpression {
            check(
                .stringPattern, !column.matchesPattern(text), "the string does not match \(pattern)"
            )
        }
    }

    private func isDate(_ value: Value) -> Bool {
        if case .date = value { true } else { false }
    }

    /// A limit counts in the attribute's own type.
    private func order(_ value: Value, _ limit: Value) -> Int? {
        switch (value, limit) {
        case (.integer, .integer), (.double, .double), (.float, .float), (.decimal, .decimal),
            (.date, .date):
            return SortingOrder.compare(value, limit)
        case (.integer(let value), .double(let limit)):
            return Double(value) < limit ? -1 : Double(value) > limit ? 1 : 0
        case (.double(let value), .integer(let limit)):
            return value < Double(limit) ? -1 : value > Double(limit) ? 1 : 0
        case (.float(let value), .double(let limit)):
            return Double(value) < limit ? -1 : Double(value) > limit ? 1 : 0
        default:
            return nil
        }
    }

    /// What the model forbids of all values, be they set or stored, and of all numbers of members.
    final func modelErrorsOfAll() -> [StoreError] {
        let rules = scope.rules
        var errors = refusalErrors
        for column in entity.columns.indices where !isRefused(column: column) {
            validate(columnValue(column), column: column, &errors)
        }
        for index in rules.counted {
            guard let context = managedObjectContext else { continue }
            validate(count: context.memberCount(of: self, index), relationship: index, &errors)
        }
        return errors
    }

    private func validateCount(_ index: Int, _ errors: inout [StoreError]) {
        let description = entity.relationships[index].description
        guard description.isToMany, description.minimumCount > 0 || description.maximumCount > 0,
            isInserted || toMany[index]?.hasChanges == true, let context = managedObjectContext
        else { return }
        var count = context.memberCount(of: self, index)
        if context.hasLostLinks || context.hasGoneObjects {
            // They come back should their objects do, but are not saved.
            count -=
                toMany[index]?.added.count { context.registry.object(for: $0)?.isGone == true } ?? 0
        }
        validate(count: count, relationship: index, &errors)
    }

    /// Notes what the model forbids of a number of members.
    final func validate(count: Int, relationship index: Int, _ errors: inout [StoreError]) {
        let description = entity.relationships[index].description
        if count < description.minimumCount, count > 0 || !description.isOptional {
            errors.append(
                failure(
                    .tooFewMembers,
                    "\(count) objects are fewer than \(description.minimumCount)",
                    key: description.name))
        }
        if description.maximumCount > 0, count > description.maximumCount {
            errors.append(
                failure(
                    .tooManyMembers,
                    "\(count) objects are more than \(description.maximumCount)",
                    key: description.name))
        }
    }

    /// - Throws: `StoreError` with `.deleteDenied` for each relationship that forbids it.
    final func validateDeletion() throws(StoreError) {
        var errors: [StoreError] = []
        guard let context = managedObjectContext, !isDisplaced, !isGone else { return }
        for (index, relationship) in entity.relationships.enumerated()
        where relationship.description.deleteRule == .deny {
            let blockers = context.relatedObjects(of: self, index).count { !$0.isDeleted }
            if blockers > 0 {
                let description = relationship.description
                errors.append(
                    failure(
                        .deleteDenied,
                        "the delete rule deny prevents the deletion: the object has \(blockers) in \(description.name)",
                        key: description.name))
            }
        }
        if let error = StoreError.combining(errors) { throw error }
    }
}
