// Modules that Linux does not have.

/// Apple's modules.
enum AppleModules {
    /// User interface frameworks: a file that imports one does not belong into a target for Linux.
    static let interface: Set<String> = [
        "AppKit", "Cocoa", "SwiftUI", "TVUIKit", "UIKit", "WatchKit", "WidgetKit",
    ]

    /// Others that code beside Core Data imports, and what takes their place.
    static let others: [String: String] = [
        "AppIntents": leaveOut, "AVFoundation": leaveOut, "CloudKit": leaveOut,
        "Combine":
            "an AsyncSequence, such as NotificationCenter's notifications(named:), or the package OpenCombine",
        "CommonCrypto": "the package swift-crypto",
        "Contacts": leaveOut, "CoreGraphics": "Foundation, which has CGFloat, CGPoint and CGRect",
        "CoreImage": leaveOut, "CoreLocation": leaveOut,
        "CoreSpotlight": leaveOut, "CryptoKit": "the package swift-crypto (import Crypto)",
        "EventKit": leaveOut, "HealthKit": leaveOut, "ImageIO": leaveOut, "Intents": leaveOut,
        "MapKit": leaveOut, "MobileCoreServices": leaveOut, "NaturalLanguage": leaveOut,
        "OSLog": "the package swift-log", "ObjectiveC": leaveOut, "Photos": leaveOut,
        "QuartzCore": leaveOut, "SafariServices": leaveOut, "Security": leaveOut,
        "StoreKit": leaveOut, "SwiftData": "CoreData", "SystemConfiguration": leaveOut,
        "UniformTypeIdentifiers": leaveOut, "UserNotifications": leaveOut,
        "WatchConnectivity": leaveOut, "os": "the package swift-log",
        "os.log": "the package swift-log", "os.signpost": leaveOut,
    ]

    private static let leaveOut = "#if canImport(…) around the import and what uses it"

    /// Whether Linux has no such module.
    static func isAbsent(_ name: String) -> Bool {
        interface.contains(name) || others[name] != nil || name == "Darwin"
    }
}
