// All rules, in the order in which they run.

/// The rules.
enum RuleList {
    /// Those that change files, and then those that only report.
    static let all: [any Rule] = [
        ImportRule(), FoundationImportRule(), FoundationNameRule(), ManagedVariableRule(),
        OptionalRequirementRule(), ClassProtocolRule(), AttributeRule(), KeyPathRule(),
        SetLiteralRule(), SortSelectorRule(), OperationStateRule(), FileProtectionRule(),
        ModelEndingRule(),
        FetchRequestCastRule(), PredicateArgumentRule(), PredicateWrapperRule(),
        RequiredInitializerRule(), NotificationObserverRule(), MissingImportRule(), ImportReport(),
        SelectorReport(), ObservationReport(),
        ConditionReport(), ModelBundleReport(), AbsentNameReport(), OverrideReport(),
        DynamicInitializerReport(),
    ]
}
