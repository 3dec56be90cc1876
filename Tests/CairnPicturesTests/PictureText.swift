// A picture as an XML parser reads it.

import Foundation
import FoundationXML
import Testing

@testable import CairnPictures

/// The elements of a picture, in order.
struct PictureText {
    struct Element {
        let name: String
        let attributes: [String: String]
        /// The text within it, and within its children.
        var text = ""

        func number(_ key: String) -> Double { attributes[key].flatMap(Double.init) ?? .nan }
    }

    let elements: [Element]

    init(_ picture: Picture, _ place: Picture.Place = .page) throws {
        let reader = Reader()
        let parser = XMLParser(data: Data(picture.svg(in: place).utf8))
        parser.delegate = reader
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
        elements = reader.elements
    }

    func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }

    /// The elements that have an attribute, by its values.
    func values(of attribute: String) -> [String] {
        elements.compactMap { $0.attributes[attribute] }
    }

    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [Element] = []
        private var open: [Int] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
            qualifiedName: String?, attributes: [String: String]
        ) {
            open.append(elements.count)
            elements.append(Element(name: name, attributes: attributes))
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
            qualifiedName: String?
        ) { open.removeLast() }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            for index in open { elements[index].text += text }
        }
    }
}
