// NSPersistentCloudKitContainer
//
// Parts of Core Data that Linux cannot have, and names of the Objective-C runtime around them.

import SwiftSyntax

/// Reports names that the module does not have.
struct AbsentNameReport: Rule {
    var words: [String] { Self.names.keys + ["FetchRequest", "VersionInfo"] }

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.usesCoreData ? Visitor.examine(file, context) : Examination()
    }

    fileprivate struct Answer {
        let reason: String
        let advice: String
    }

    fileprivate static let names: [String: Answer] = {
        let cloud = Answer(
            reason: "Linux has no iCloud",
            advice: "NSPersistentContainer; several servers share a store in PostgreSQL")
        let store = Answer(
            reason: "custom store classes are not supported",
            advice: "one of Cairn's stores: in a folder, in memory or in PostgreSQL")
        let spotlight = Answer(
            reason: "Linux has no Spotlight", advice: "#if canImport(CoreSpotlight)")
        let screens = Answer(
            reason: "it is part of Apple's user interface frameworks",
            advice: "NSFetchedResultsController with a delegate, or a fetch")
        let runtime = Answer(
            reason: "it needs the Objective-C runtime",
            advice: "pass the class itself, or a function")
        return [
            "NSPersistentCloudKitContainer": cloud, "NSPersistentCloudKitContainerOptions": cloud,
            "NSPersistentCloudKitContainerEvent": cloud,
            "NSIncrementalStore": store, "NSIncrementalStoreNode": store, "NSAtomicStore": store,
            "NSAtomicStoreCacheNode": store,
            "NSCoreDataCoreSpotlightDelegate": spotlight,
            "NSPersistentDocument": screens, "UIManagedDocument": screens,
            "NSArrayController": screens,
            "NSDiffableDataSourceSnapshotReference": screens,
            "NSClassFromString": Answer(
                reason:
                    "on Linux a class is found only by its name with the module, \"Module.Class\"",
                advice: "the class itself, or its full name"),
            "AutoreleasingUnsafeMutablePointer": Answer(
                reason:
                    "Core Data finds such methods by their names, which requires the Objective-C runtime",
                advice: "override validateForInsert() and validateForUpdate()"),
            "classForCoder": Answer(
                reason: "it needs the Objective-C runtime",
                advice: "String(describing: type), or NSStringFromClass(type)"),
            "class_copyPropertyList": runtime, "class_getInstanceMethod": runtime,
            "method_exchangeImplementations": runtime, "objc_getAssociatedObject": runtime,
            "objc_setAssociatedObject": runtime, "object_getClass": runtime,
        ]
    }()

    private final class Visitor: RuleVisitor {
        override func visit(_ node: TokenSyntax) -> SyntaxVisitorContinueKind {
            if case .identifier(let text) = node.tokenKind,
                let answer = AbsentNameReport.names[text]
            {
                remark(node, text, answer.reason, answer.advice)
            }
            return .skipChildren
        }

        override func visit(_ node: StringSegmentSyntax) -> SyntaxVisitorContinueKind {
            let text = node.content.text
            let isResource =
                text == "VersionInfo"
                && node.ancestors.contains {
                    $0.as(FunctionCallExprSyntax.self)?.trimmedDescription.contains("\"plist\"")
                        ?? false
                }
            if isResource || text == "VersionInfo.plist" || text.hasSuffix("/VersionInfo.plist") {
                remark(
                    node, text, "only a model that Xcode compiled has it",
                    "the names of the .xcdatamodel folders, and _XCCurrentVersionName in .xccurrentversion"
                )
            }
            return .skipChildren
        }

        override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
            let name = node.attributeName.trimmedDescription
            let isFetch = ["FetchRequest", "SectionedFetchRequest"].contains { name.hasPrefix($0) }
            guard isFetch else { return .visitChildren }
            remark(
                node, "@\(name)", "it is SwiftUI's",
                "leave the view out of the target for Linux")
            return .visitChildren
        }
    }
}
