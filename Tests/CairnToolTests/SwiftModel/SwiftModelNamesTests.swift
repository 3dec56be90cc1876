// Models in which names and shapes meet that a file of Swift cannot have side by side.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn model --swift, names that meet")
struct SwiftModelNamesTests {
    /// The lines of what is written for a model in JSON; it parses, and the macros refuse nothing.
    private func written(_ json: String) throws -> [String] {
        let work = try Workplace()
        let made = cairn("model", try work.list("m.json", json), "--swift")
        #expect(made.code == 0, "\(made.errors)")
        #expect(try GeneratedSyntax(made.output).problems == [])
        return made.lines
    }

    /// The lines between the head of a type and its end.
    private func body(of head: String, in lines: [String]) throws -> [String] {
        let start = try #require(
            lines.firstIndex { $0.hasPrefix(head) }, "\(lines.joined(separator: "\n"))")
        return Array(lines[(start + 1)...].prefix { $0 != "}" })
    }

    @Test("a composite of the model and one that stands in an attribute alone are two structs")
    func composites() throws {
        let lines = try written(
            """
            {"entities":[
              {"name":"Customer","attributes":[{"name":"home","type":"composite","compositeName":"OrderAddress",
                "elements":[{"name":"street","type":"string"}]}]},
              {"name":"Order","attributes":[{"name":"address","type":"composite",
                "elements":[{"name":"zip","type":"integer32"},
                  {"name":"place","type":"composite","elements":[{"name":"x","type":"double"}]}]}]},
              {"name":"OrderAddress","attributes":[{"name":"place","type":"composite",
                "elements":[{"name":"y","type":"double"}]}]}
            ],
            "composites":[{"name":"OrderAddress","elements":[{"name":"street","type":"string"}]}]}
            """)
        #expect(
            try body(of: "final class Customer:", in: lines).first?.hasPrefix("    var home: ")
                == true)
        func type(_ head: String, _ property: String) throws -> String {
            let line = try #require(
                try body(of: head, in: lines).first { $0.contains("var \(property): ") })
            return String(line.split(separator: " ")[2].dropLast())
        }
        let named = try type("final class Customer:", "home")
        let own = try type("final class Order:", "address")
        #expect(named != own)
        #expect(try body(of: "struct \(named):", in: lines) == ["    var street: String?"])
        let inner = try type("struct \(own):", "place")
        let other = try type("final class OrderAddress:", "place")
        #expect(try body(of: "struct \(inner):", in: lines) == ["    var x: Double?"])
        #expect(try body(of: "struct \(other):", in: lines) == ["    var y: Double?"])
    }

    @Test("names of entities and attributes that are one text when they are joined are two structs")
    func joined() throws {
        let lines = try written(
            """
            {"entities":[
              {"name":"A","attributes":[{"name":"bC","type":"composite",
                "elements":[{"name":"x","type":"string"}]}]},
              {"name":"AB","attributes":[{"name":"c","type":"composite",
                "elements":[{"name":"y","type":"string"}]}]}
            ]}
            """)
        #expect(lines.filter { $0.hasPrefix("struct ") }.count == 2)
        #expect(lines.contains("    var x: String?") && lines.contains("    var y: String?"))
        #expect(
            try body(of: "final class A:", in: lines) != body(of: "final class AB:", in: lines))
    }

    @Test("a class that the model calls as Swift calls something is called like its entity")
    func keywords() throws {
        let lines = try written(
            """
            {"entities":[
              {"name":"Standard","managedObjectClassName":"default","attributes":[]},
              {"name":"Task list","managedObjectClassName":"App.protocol","attributes":[]}
            ]}
            """)
        #expect(
            lines.filter { $0.contains("class ") } == [
                "final class Standard: ManagedObject {}",
                "final class TaskList: ManagedObject {}",
            ])
    }

    @Test("a transient composite says how it is called, and is without elements of no type")
    func transient() throws {
        let lines = try written(
            """
            {"entities":[{"name":"A","attributes":[
              {"name":"description","type":"composite","isTransient":true,"elements":[
                {"name":"any","type":"undefined"},{"name":"id","type":"objectID"},
                {"name":"x","type":"double"}]},
              {"name":"nothing","type":"composite","isTransient":true,"elements":[
                {"name":"any","type":"undefined"}]}]}]}
            """)
        #expect(
            try body(of: "struct ADescription:", in: lines) == [
                "    // any: untyped, which a struct cannot have.",
                "    // id: untyped, which a struct cannot have.", "    var x: Double?",
            ])
        #expect(
            try body(of: "final class A:", in: lines) == [
                "    // The model calls it description, which is reserved in every object.",
                "    // Transient: it is kept in the object, which does not track its changes.",
                "    @Transient var description_: ADescription? = nil",
                "    // nothing: a composite without elements, which cannot be a struct.",
            ])
    }
}
