// Compiled models that bundles are asked for, where there are only sources.
//
// These functions take no optionals where Foundation's do, so that a call with texts means these; all but models they leave to
// Foundation.

public import Foundation

extension Bundle {
    /// The URL of a resource. For a compiled model that is not there, that of its source: `M.xcdatamodeld` for `M.momd`.
    public func url(forResource name: String, withExtension ext: String) -> URL? {
        if let url = url(forResource: name as String?, withExtension: ext as String?) {
            return url
        }
        return ["momd", "mom"].contains(ext) ? ModelSearch(of: self).model(named: name) : nil
    }

    /// The URL of a resource. For a compiled version of a model that is not there, that of its source.
    public func url(
        forResource name: String, withExtension ext: String, subdirectory subpath: String?
    ) -> URL? {
        let known = url(
            forResource: name as String?, withExtension: ext as String?, subdirectory: subpath)
        if let known { return known }
        guard ext == "mom", let subpath else {
            return subpath == nil ? url(forResource: name, withExtension: ext) : nil
        }
        return versions(in: subpath).first { url in
            url.deletingPathExtension().lastPathComponent == name
        }
    }

    /// The URLs of all resources with an extension. For compiled models that are not there, those of their sources.
    public func urls(
        forResourcesWithExtension ext: String, subdirectory subpath: String?
    ) -> [URL]? {
        let known: [URL]? = urls(forResourcesWithExtension: ext as String?, subdirectory: subpath)?
            .map { $0 as URL }
        if known?.isEmpty == false { return known }
        switch (ext, subpath) {
        case ("momd", nil):
            return ModelSearch.models(in: [self]).filter { $0.pathExtension == "xcdatamodeld" }
        case ("mom", nil):
            return ModelSearch.models(in: [self]).filter { $0.pathExtension == "xcdatamodel" }
        case ("mom", let subpath?): return versions(in: subpath)
        default: return known
        }
    }

    /// The path of a resource. For a compiled model that is not there, that of its source.
    public func path(forResource name: String, ofType ext: String) -> String? {
        url(forResource: name, withExtension: ext)?.path
    }

    /// The sources of the versions that a folder of compiled ones would have.
    private func versions(in folder: String) -> [URL] {
        let folder = URL(fileURLWithPath: folder)
        guard folder.pathExtension == "momd" else { return [] }
        let name = folder.deletingPathExtension().lastPathComponent
        guard let model = ModelSearch(of: self).model(named: name) else { return [] }
        let urls = try? FileManager.default.contentsOfDirectory(
            at: model, includingPropertiesForKeys: nil)
        return (urls ?? []).filter { $0.pathExtension == "xcdatamodel" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }
}
