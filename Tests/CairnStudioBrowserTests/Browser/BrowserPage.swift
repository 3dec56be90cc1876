// A page of a browser: opened, looked at, and used as people use it, by real input events.
//
// Threads: one task at a time.

import CairnTestSupport
import Foundation
import Testing

/// A tab.
struct BrowserPage: Sendable {
    let browser: Browser
    let session: String

    private struct Targets: Decodable {
        struct Target: Decodable {
            let targetId: String
            let type: String
        }
        let targetInfos: [Target]
    }

    private struct Attached: Decodable {
        let sessionId: String
    }

    private struct Nothing: Decodable {}

    init(_ browser: Browser) async throws {
        self.browser = browser
        let targets = try await browser.pipe.call("Target.getTargets", as: Targets.self)
        let target = try #require(targets.targetInfos.first { $0.type == "page" })
        session = try await browser.pipe.call(
            "Target.attachToTarget", ["targetId": .text(target.targetId), "flatten": true],
            as: Attached.self
        ).sessionId
        for domain in ["Inspector", "Page", "Runtime", "Log", "Network", "DOM"] {
            try await tell("\(domain).enable")
        }
    }

    /// Gives a command of which only errors count.
    func tell(_ method: String, _ parameters: [String: Parameter] = [:]) async throws {
        _ = try await browser.pipe.call(method, parameters, session: session, as: Nothing.self)
    }

    /// Goes to an address.
    func open(_ address: String) async throws {
        try await tell("Page.navigate", ["url": .text(address)])
    }

    // MARK: Looking

    private struct Evaluated<Value: Decodable>: Decodable {
        struct Result: Decodable {
            let value: Value?
        }
        enum Key: String, CodingKey {
            case result, exceptionDetails
        }
        struct Details: Decodable {
            struct Thrown: Decodable {
                let description: String?
            }
            let text: String
            let exception: Thrown?
        }
        let value: Value?
        let exception: Details?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            exception = try container.decodeIfPresent(Details.self, forKey: .exceptionDetails)
            // What is thrown is no value of the type.
            value =
                try exception == nil
                ? container.decode(Result.self, forKey: .result).value : nil
        }
    }

    /// The value of an expression of JavaScript, also of one that is a promise.
    func evaluate<Value: Decodable>(
        _ script: String, as type: Value.Type = Value.self
    ) async throws -> Value {
        let answer = try await browser.pipe.call(
            "Runtime.evaluate",
            ["expression": .text(script), "awaitPromise": true, "returnByValue": true],
            session: session, as: Evaluated<Value>.self)
        if let details = answer.exception {
            throw DevToolsPipe.Failure(
                description: "\(details.exception?.description ?? details.text) in: \(script)")
        }
        return try #require(answer.value, "no value of: \(script)")
    }

    /// Waits until an expression is true: the page itself looks again and again, and gives up with what it shows.
    func until(_ condition: String) async throws {
        let script = """
            new Promise((resolve, reject) => {
              const start = Date.now();
              const look = () => {
                let why = "";
                // What is not on the page yet cannot be asked.
                try { if (\(condition)) return resolve(true); } catch (error) { why = `, ${error}`; }
                if (Date.now() - start < 120_000) return setTimeout(look, 20);
                reject(new Error(`in vain, at ${location}${why}: ${(document.body?.innerText ?? '').slice(0, 500)}`));
              };
              look();
            })
            """
        let end = ContinuousClock.now + .seconds(240)
        while true {
            do {
                let _: Bool = try await evaluate(script)
                return
            } catch let failure as DevToolsPipe.Failure
                where failure.isOfPageLeft && ContinuousClock.now < end
            {
                // The page went elsewhere meanwhile, where it is looked for again.
                continue
            }
        }
    }

    /// The words of an element, as people see them, once it is there.
    func words(_ selector: String) async throws -> String {
        try await until("document.querySelector(\(Self.quoted(selector))) !== null")
        return try await evaluate("document.querySelector(\(Self.quoted(selector))).innerText")
    }

    /// The words of all elements of a kind.
    func allWords(_ selector: String) async throws -> [String] {
        try await evaluate(
            "[...document.querySelectorAll(\(Self.quoted(selector)))].map((one) => one.innerText)")
    }

    static func quoted(_ text: String) -> String {
        guard let data = try? JSONEncoder().encode(text) else { return "''" }
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: Using

    /// Keys that are held while another is pressed.
    struct Modifiers: OptionSet {
        let rawValue: Int
        static let alt = Modifiers(rawValue: 1)
        static let control = Modifiers(rawValue: 2)
        static let shift = Modifiers(rawValue: 8)
    }

    /// Clicks the middle of an element, which comes into view for that.
    func click(
        _ selector: String, with modifiers: Modifiers = [], times: Int = 1
    ) async throws {
        let place = try await middle(of: selector)
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            try await tell(
                "Input.dispatchMouseEvent",
                [
                    "type": .text(kind), "x": .number(place[0]), "y": .number(place[1]),
                    "button": kind == "mouseMoved" ? "none" : "left",
                    "clickCount": .number(Double(times)),
                    "modifiers": .number(Double(modifiers.rawValue)),
                ])
        }
    }

    private func middle(of selector: String) async throws -> [Double] {
        try await evaluate(
            """
            (() => {
              const element = document.querySelector(\(Self.quoted(selector)));
              element.scrollIntoView({ block: "nearest", inline: "nearest" });
              const box = element.getBoundingClientRect();
              return [box.x + box.width / 2, box.y + box.height / 2];
            })()
            """)
    }

    /// Drags a file of the system over the middle of an element, and drops it there unless it only comes by.
    func drag(_ path: String, over selector: String, dropping: Bool = true) async throws {
        let place = try await middle(of: selector)
        for kind in ["dragEnter", "dragOver", dropping ? "drop" : "dragCancel"] {
            try await tell(
                "Input.dispatchDragEvent",
                [
                    "type": .text(kind), "x": .number(place[0]), "y": .number(place[1]),
                    "data": ["items": [], "files": [.text(path)], "dragOperationsMask": 1],
                ])
        }
    }

    /// Clicks the button or link that says this.
    func clickWords(_ words: String) async throws {
        let mark = "data-clicked-by-words"
        let isThere: Bool = try await evaluate(
            """
            (() => {
              for (const old of document.querySelectorAll("[\(mark)]")) old.removeAttribute("\(mark)");
              const element = [...document.querySelectorAll("button, a, summary")]
                .find((one) => one.innerText.trim() === \(Self.quoted(words)) && one.offsetParent !== null
                  && (!document.querySelector("dialog[open]") || one.closest("dialog[open], .toasts")));
              element?.setAttribute("\(mark)", "");
              return element !== undefined;
            })()
            """)
        try #require(isThere, "there is nothing to click that says: \(words)")
        try await click("[\(mark)]")
    }

    /// Types a text where the focus is.
    func type(_ text: String) async throws {
        try await tell("Input.insertText", ["text": .text(text)])
    }

    /// The codes that Windows gave keys, by which browsers know them.
    private static let codes: [String: Int] = [
        "Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34,
        "End": 35,
        "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46,
        "ContextMenu": 93, "F2": 113,
    ]

    /// Presses a key.
    func press(_ key: String, with modifiers: Modifiers = []) async throws {
        let letter = key.utf8.count == 1 ? key.uppercased().utf8.first.map(Int.init) : nil
        var event: [String: Parameter] = [
            "key": .text(key), "code": .text(key),
            "windowsVirtualKeyCode": .number(Double(Self.codes[key] ?? letter ?? 0)),
            "modifiers": .number(Double(modifiers.rawValue)), "type": "keyDown",
        ]
        if modifiers.isDisjoint(with: [.control, .alt]) {
            if letter != nil { event["text"] = .text(key) }
            if key == "Enter" { event["text"] = "\r" }
        }
        try await tell("Input.dispatchKeyEvent", event)
        event["type"] = "keyUp"
        event["text"] = nil
        try await tell("Input.dispatchKeyEvent", event)
    }

    /// Gives files to a field that asks for some.
    func choose(_ path: String, in selector: String) async throws {
        struct Found: Decodable {
            struct Result: Decodable {
                let objectId: String
            }
            let result: Result
        }
        let found = try await browser.pipe.call(
            "Runtime.evaluate",
            ["expression": .text("document.querySelector(\(Self.quoted(selector)))")],
            session: session, as: Found.self)
        try await tell(
            "DOM.setFileInputFiles",
            ["files": [.text(path)], "objectId": .text(found.result.objectId)])
    }

    // MARK: Appearance

    /// Gives the page a size.
    func resize(_ width: Int, _ height: Int) async throws {
        try await tell(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(width)), "height": .number(Double(height)),
                "deviceScaleFactor": 1, "mobile": .truth(width < 600),
            ])
    }

    /// Says whether the system is dark.
    func darken(_ isDark: Bool) async throws {
        try await tell(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
                ]
            ])
    }

    /// Where pictures of pages are kept, if somebody wants them.
    private static let pictures = ProcessInfo.processInfo.environment["CAIRN_SCREENSHOTS"]

    /// A picture of the page, written where CAIRN_SCREENSHOTS says.
    @discardableResult
    func picture(_ name: String) async throws -> Data {
        struct Captured: Decodable {
            let data: Data
        }
        let picture = try await browser.pipe.call(
            "Page.captureScreenshot", ["format": "png"], session: session, as: Captured.self
        ).data
        if let folder = Self.pictures {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try picture.write(to: URL(fileURLWithPath: "\(folder)/\(name).png"))
        }
        return picture
    }
}
