// Validates a value by the model's rules for its property.
//
//   1. nil is judged by "optional" alone; a derived attribute may always be nil, for the save fills it.
//   2. The value is one of the attribute's type.
//   3. Limits of numbers and dates, length in characters, the pattern over the whole string.
//   4. The validation predicates, each asked of the value.
//
// The first thing that is wrong is told.

import FoundationEssentials

extension SchemaColumn {
    /// Why a value is invalid for this column; nil if it is valid.
    ///
    /// Complexity: constant, except for strings: their length, and the time to match the pattern.
    public func validate(_ value: Value) -> ValidationFailure? {
        if let attribute {
            return attribute.failure(
                of: value, key: name, isOptional: isOptional, pattern: pattern)
        }
        switch value {
        case .null:
            return isOptional
                ? nil
                : ValidationFailure(
                    .missingMandatoryProperty, key: name, value: value, "it must not be nil")
        case .objectID: return nil
        default:
            return ValidationFailure(.generic, key: name, value: value, "it is not an object id")
        }
    }
}

extension SchemaColumn {
    /// The conditions of the column's values, ready to be asked.
    package var conditions: [ValueCondition] {
        // The schema has refused what cannot be asked.
        attribute.flatMap { try? $0.valueConditions() } ?? []
    }

    /// The same as ``validate(_:)`` for whoever asks for many values: the conditions are those of the column.
    package func validate(_ value: Value, conditions: [ValueCondition]) -> ValidationFailure? {
        guard let attribute else { return validate(value) }
        return attribute.failure(
            of: value, key: name, isOptional: isOptional, pattern: pattern, conditions: conditions)
    }

    /// Whether the whole of a text matches the column's pattern, compiled once for the schema; true if it has
    /// none.
    package func matchesPattern(_ text: String) -> Bool { pattern?.matchesWhole(text) ?? true }
}

extension SchemaAttribute {
    /// Why a value is invalid for this attribute; nil if it is valid. Works for transient attributes, which have no column,
    /// and all others except composite ones, whose columns validate their elements.
    public func validate(_ value: Value) -> ValidationFailure? {
        description.failure(
            of: value, key: description.name, isOptional: description.isOptional, pattern: pattern)
    }
}

extension AttributeDescription {
    /// Refuses a regular expression that a schema would refuse.
    ///
    /// - Throws: What is wrong with it, and where.
    package func checkRegularExpression() throws {
        if let regularExpression { _ = try StringPattern(regularExpression) }
    }

    /// Why a value is invalid for this attribute; nil if it is valid.
    ///
    /// Every call compiles the regular expression; ``SchemaColumn`` and ``SchemaAttribute`` compile it once. An invalid one
    /// matches nothing.
    public func validate(_ value: Value) -> ValidationFailure? {
        guard let regularExpression, let pattern = try? StringPattern(regularExpression) else {
            let failure = failure(of: value, key: name, isOptional: isOptional, pattern: nil)
            guard failure == nil, regularExpression != nil, case .string = value else {
                return failure
            }
            return mismatch(value, key: name)
        }
        return failure(of: value, key: name, isOptional: isOptional, pattern: pattern)
    }

    /// - Parameter conditions: those of the attribute, if they are known.
    fileprivate func failure(
        of value: Value, key: String, isOptional: Bool, pattern: StringPattern?,
        conditions: [ValueCondition]? = nil
    ) -> ValidationFailure? {
        let fail = { (code: ValidationFailure.Code, message: String) in
            ValidationFailure(code, key: key, value: value, message)
        }
        if value.isNull {
            return isOptional || derivationExpression != nil
                ? nil : fail(.missingMandatoryProperty, "it must not be nil")
        }
        // Only a transient attribute is without a type, and then anything will do.
        if type == .undefined { return nil }
        if type == .objectID, case .objectID = value { return nil }
        guard value.fits(type) else { return fail(.generic, "it is not a \(type.rawValue)") }
        let beyond: ValidationFailure? =
            switch value {
            case .string(let text): failure(of: text, fail, pattern: pattern)
            case .date(let date):
                date.timeIntervalSinceReferenceDate.isFinite
                    ? failure(of: value, fail, below: .dateTooSoon, above: .dateTooLate)
                    : fail(.invalidDate, "it is not a finite date")
            case .decimal(let number) where number.isNaN:
                fail(.invalidDate, "it is not a number (NaN)")
            default: failure(of: value, fail, below: .numberTooSmall, above: .numberTooLarge)
            }
        if let beyond { return beyond }
        let broken =
            conditions.map { $0.first { !$0.holds(for: value) } } ?? brokenCondition(by: value)
        return broken.map {
            fail(.generic, $0.warning ?? "it does not satisfy \($0.predicate)")
        }
    }

    private func failure(
        of value: Value, _ fail: (ValidationFailure.Code, String) -> ValidationFailure,
        below: ValidationFailure.Code, above: ValidationFailure.Code
    ) -> ValidationFailure? {
        if let minimumValue {
            switch value.compare(to: minimumValue) {
            case .ascending: return fail(below, "the minimum is \(minimumValue)")
            case nil:
                return fail(.generic, "it cannot be compared with the minimum, \(minimumValue)")
            case .same, .descending: break
            }
        }
        if let maximumValue {
            switch value.compare(to: maximumValue) {
            case .descending: return fail(above, "the maximum is \(maximumValue)")
            case nil:
                return fail(.generic, "it cannot be compared with the maximum, \(maximumValue)")
            case .same, .ascending: break
            }
        }
        return nil
    }

    private func failure(
        of text: String, _ fail: (ValidationFailure.Code, String) -> ValidationFailure,
        pattern: StringPattern?
    ) -> ValidationFailure? {
        if minimumLength != nil || maximumLength != nil {
            let count = text.count
            if let maximumLength, count > maximumLength {
                return fail(
                    .stringTooLong,
                    "it has \(count) characters, at most \(maximumLength) are allowed")
            }
            if let minimumLength, count < minimumLength {
                return fail(
                    .stringTooShort,
                    "it has \(count) characters, at least \(minimumLength) are needed")
            }
        }
        if let pattern, !pattern.matchesWhole(text) {
            return fail(.stringPatternMismatch, "it does not match \(pattern.source)")
        }
        return nil
    }

    private func mismatch(_ value: Value, key: String) -> ValidationFailure {
        ValidationFailure(
            .stringPatternMismatch, key: key, value: value,
            "it does not match \(regularExpression ?? "")")
    }
}
