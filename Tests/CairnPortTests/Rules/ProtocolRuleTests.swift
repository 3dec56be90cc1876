// What becomes of protocols of Objective-C and their optional requirements.

import Testing

@Suite("Protocols of Objective-C")
struct ProtocolRuleTests {
    private static let listener = """
        import CoreData

        @objc(Listener)
        public protocol Listener {
            /// After a save.
            @objc optional func saved(_ note: Note, in list: List)
            @objc(namedNote:)
            optional func name(of note: Note) -> String?
            func failed()
        }

        class List {
            weak var listener: Listener?

            func save(_ note: Note) {
                listener?.saved?(note, in: self)
                print(listener?.name?(of: note) ?? "", note.done?())
                (listener as? Other)?.saved?(note)
            }
        }
        """

    @Test("optional requirements get default implementations, and calls call them")
    func defaults() throws {
        let expected = """
            import CoreData

            public protocol Listener: AnyObject {
                /// After a save.
                func saved(_ note: Note, in list: List)
                func name(of note: Note) -> String?
                func failed()
            }

            extension Listener {
                public func saved(_ note: Note, in list: List) {}
                public func name(of note: Note) -> String? { nil }
            }

            class List {
                weak var listener: Listener?

                func save(_ note: Note) {
                    listener?.saved(note, in: self)
                    print(listener?.name(of: note) ?? "", note.done?())
                    (listener as? Other)?.saved?(note)
                }
            }
            """
        for linuxOnly in [true, false] {
            let (text, left) = try ported(Self.listener, linuxOnly: linuxOnly)
            #expect(text == expected)
            #expect(left.isEmpty)
        }
    }

    @Test("a call in a file without Core Data is changed as well")
    func calls() throws {
        let tree = try PortedTree([
            "A.swift": Self.listener, "B.swift": "func f(_ l: Listener) { l.saved?(n, in: m) }\n",
        ])
        tree.run("--force")
        #expect(try tree.text("B.swift") == "func f(_ l: Listener) { l.saved(n, in: m) }\n")
    }

    @Test(
        "what would not mean the same is reported",
        arguments: [
            // Each class that inherits has a method of its own, which Swift would not call.
            "class Base: Listener {}\nclass Own: Base { func done() {} }",
            "class Base {}\nextension Base: Listener {}\nclass Own: Base { func done() {} }",
            // The same by a protocol that inherits.
            "protocol Other: Listener {}\nclass Base: Other {}\nclass Own: Base { func done() {} }",
            // A closure.
            "class Task { var done: (() -> Void)? }",
            // Somebody asks whether it is there.
            "func f(_ l: Listener?) { if l?.done?() == nil { print(l) } }",
            "func f(_ l: Listener) { if nil != l.done?() { print(l) } }",
            "func f(_ l: Listener) { if l.done != nil { print(l) } }",
            "func f(_ l: Listener) { let g = l.done; g?() }",
        ])
    func unsafe(_ code: String) throws {
        for linuxOnly in [true, false] {
            let (text, left) = try ported(
                """
                import CoreData
                @objc protocol Listener { @objc optional func done() }
                func tell(_ listener: Listener) { listener.done?() }
                \(code)
                """, linuxOnly: linuxOnly)
            #expect(text.contains("listener.done?()"))
            #expect(left.count == 1)
            #expect(left.first?.hasSuffix(": an optional requirement") == true)
        }
    }

    @Test(
        "what files without Core Data declare and ask counts as well",
        arguments: [
            "class Own: Base { func done() {} }", "extension Own { func done() {} }",
            "func f(_ l: Listener) { if l.done != nil { print(l) } }",
        ])
    func elsewhere(_ code: String) throws {
        let source = """
            import CoreData
            @objc protocol Listener { @objc optional func done() }
            class Base: Listener {}
            class Own: Base {}
            """
        let tree = try PortedTree(["A.swift": source, "B.swift": "\(code)\n"])
        let run = tree.run("--force", "--linux-only")
        let text = try tree.text("A.swift")
        #expect(text.contains("optional func done()") && !text.contains("extension Listener"))
        #expect(run.subjects.count == 1)
    }

    @Test("a class that has what the class above it has as well is safe")
    func overriding() throws {
        let (text, left) = try ported(
            """
            import CoreData
            @objc protocol Listener { @objc optional func done() }
            class Base: Listener { func done() {} }
            class Own: Base { override func done() {} }
            """)
        #expect(text.contains("extension Listener {\n    func done() {}\n}"))
        #expect(left.isEmpty)
    }

    @Test(
        "what Objective-C has to know stays on Apple's platforms",
        arguments: [
            "class List { @objc weak var listener: Listener? }",
            "class List { @objc func add(_ listener: Listener) {} }",
            "@objc protocol Other: Listener {}", "@objc protocol Other { func add(_ l: Listener) }",
        ])
    func exposed(_ code: String) throws {
        let source = """
            import CoreData
            @objc protocol Listener { @objc optional func done() }
            \(code)
            """
        let both = try ported(source)
        #expect(both.left.count == 1)
        #expect(both.text.contains("optional func done()"))
        let linux = try ported(source, linuxOnly: true)
        #expect(linux.left.isEmpty)
        #expect(linux.text.contains("extension Listener {"))
    }

    @Test("a protocol without Objective-C is for classes, as it was")
    func classes() throws {
        let (text, left) = try ported(
            """
            import CoreData
            @objc protocol One {}
            @objc protocol Two: Sendable { func f() }
            @objc protocol Three: NSObjectProtocol {}
            @objc protocol Four: One {}
            protocol Five {}
            """, linuxOnly: true)
        #expect(
            text == """
                import CoreData
                protocol One: AnyObject {}
                protocol Two: Sendable, AnyObject { func f() }
                protocol Three: NSObjectProtocol {}
                protocol Four: One {}
                protocol Five {}
                """)
        #expect(left.isEmpty)
    }
}
