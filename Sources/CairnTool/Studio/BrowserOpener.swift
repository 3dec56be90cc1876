// Opens an address in the local user's browser.

import Foundation

/// Opens addresses.
enum BrowserOpener {
    /// Opens an address, if there is a screen. If that fails, the address is still in the terminal.
    static func open(_ address: String) {
        #if os(macOS)
            let program = "open"
        #else
            let program = "xdg-open"
            // Without a screen, a text browser would take over the terminal.
            let variables = ProcessInfo.processInfo.environment
            guard variables["DISPLAY"] != nil || variables["WAYLAND_DISPLAY"] != nil else { return }
        #endif
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program, address]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try? process.run()
    }
}
