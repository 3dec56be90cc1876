// The XML of a model file as a tree of elements with their lines.
//
//   1. Foundation's parser reports elements as they open and close; a stack holds the open ones.
//   2. An element that closes is added to the one that is still open; the first is the root.
//   3. What the parser calls an error becomes a `ModelError` with its line.
//
// Text between elements is ignored: a model file keeps everything in attributes.
// Threads: one parse at a time per call; nothing is shared.

import Foundation
import FoundationEssentials

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// One element of a model file.
struct ModelElement {
    /// The tag.
    let name: String
    /// The attributes, by name.
    let marks: [String: String]
    /// Where the element's opening tag ends, from 1.
    let line: Int
    /// The elements inside, in the order of the file.
    var children: [ModelElement] = []

    /// The root element of a text.
    static func parse(_ xml: Data, file: String?) throws(ModelError) -> ModelElement {
        let parser = XMLParser(data: xml)
        let builder = TreeBuilder()
        parser.delegate = builder
        let isWhole = parser.parse()
        if let tooDeep = builder.tooDeepLine {
            throw ModelError(
                .malformed, "the elements are nested more than \(TreeBuilder.depthLimit) deep",
                file: file, line: tooDeep)
        }
        guard isWhole, let root = builder.root else {
            let line = builder.errorLine ?? max(parser.lineNumber, 1)
            throw ModelError(
                .malformed, "the XML is broken: \(reason(parser.parserError))", file: file,
                line: max(line, 1))
        }
        return root
    }

    private static func reason(_ error: (any Error)?) -> String {
        guard let error = error as NSError? else { return "it has no element" }
        switch XMLParser.ErrorCode(rawValue: error.code) {
        case .emptyDocumentError, .documentStartError: return "it does not begin with an element"
        case .prematureDocumentEndError, .gtRequiredError, .notWellBalancedError:
            return "it ends before all elements are closed"
        case .tagNameMismatchError: return "a closing tag does not match the one that is open"
        case .attributeRedefinedError: return "an element has the same attribute twice"
        case .attributeNotStartedError, .attributeNotFinishedError, .lessThanSymbolInAttributeError:
            return "an attribute's value is not closed by a quotation mark"
        case .invalidCharacterError, .invalidEncodingError, .unknownEncodingError:
            return "a character is not valid in the file's encoding"
        case .some(let code): return "\(code)"
        case .none: return "error \(error.code) of the XML parser"
        }
    }
}

/// Collects what the parser reports.
private final class TreeBuilder: NSObject, XMLParserDelegate {
    /// Model files are four deep. The limit keeps a hostile file from filling the stack.
    static let depthLimit = 64

    var root: ModelElement?
    var errorLine: Int?
    var tooDeepLine: Int?
    private var open: [ModelElement] = []

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        guard open.count < Self.depthLimit else {
            if tooDeepLine == nil { tooDeepLine = parser.lineNumber }
            parser.abortParsing()
            return
        }
        open.append(ModelElement(name: elementName, marks: attributes, line: parser.lineNumber))
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        if errorLine == nil { errorLine = parser.lineNumber }
    }
}
