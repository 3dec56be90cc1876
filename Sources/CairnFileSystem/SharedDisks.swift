// The kinds of disk that other machines may share. Linux only.
//
//   1. statfs reports the kind as a number.
//   2. All FUSE file systems have the same number: the type of the mount identifies them.
//
// A kind that is not in the tables counts as local: a network block device has an ordinary file system, which
// two machines cannot mount anyway. A folder that a virtual machine shares with its host is shared by two
// kernels, which do not see each other's locks.

#if os(Linux)

    internal import CCairn
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif
    internal import SystemPackage

    enum SharedDisks {
        /// By the number that the kernel (linux/magic.h) or the file system's module defines.
        private static let kinds: [UInt32: String] = [
            0x0000_6969: "nfs", 0x0000_517b: "smb", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb2",
            0x0000_564c: "ncp", 0x5346_414f: "afs", 0x6b41_4653: "afs", 0x7375_7245: "coda",
            0x00c3_6400: "ceph", 0x0bd0_0bd0: "lustre", 0x0116_1970: "gfs2",
            0x7461_636f: "ocfs2", 0x0102_1997: "9p", 0x1983_0326: "beegfs",
            0x2003_0528: "pvfs2", 0x4750_4653: "gpfs", 0xaad7_aaea: "panfs",
            0x6163_6673: "acfs", 0xbeef_dead: "snfs", 0x0131_11a8: "ibrix",
            0x786f_4256: "vboxsf", 0xbacb_acbc: "vmhgfs", 0x7c7c_6673: "prl_fs",
        ]

        private static let fuse: UInt32 = 0x6573_5546

        /// By the type of the mount. Other FUSE file systems are local: archives, encrypted folders, disks of
        /// other systems.
        private static let fuseKinds: Set<String> = [
            "virtiofs", "fuse.virtiofs", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph",
            "fuse.ceph-fuse", "fuse.s3fs", "fuse.s3backer", "fuse.goofys", "fuse.mountpoint-s3",
            "fuse.rclone", "fuse.gcsfuse", "fuse.blobfuse", "fuse.blobfuse2", "fuse.juicefs",
            "fuse.JuiceFS", "fuse.seaweedfs", "fuse.mfs", "fuse.mfsmount", "fuse.lizardfs",
            "fuse.alluxio-fuse", "fuse.fuse_dfs", "fuse.davfs", "fuse.davfs2", "fuse.wdfs",
            "fuse.curlftpfs", "fuse.smbnetfs", "fuse.gvfsd-fuse", "fuse.kio-fuse", "fuse.nfs",
            "fuse.fuse-nfs", "fuse.beegfs", "fuse.lustre", "fuse.google-drive-ocamlfuse",
            "fuse.onedriver", "fuse.vmhgfs-fuse", "fuse.prl_fsd", "fuse.grpcfuse", "fuse.osxfs",
        ]

        /// Returns the kind of the disk that a folder is on, or will be on once it is created; nil for a
        /// local disk, and if the system does not report it.
        static func kind(of folder: FilePath) -> String? {
            guard let (number, path) = number(of: folder) else { return nil }
            if let kind = kinds[number] { return kind }
            guard number == fuse, let device = device(of: path) else { return nil }
            return fuseKind(ofDevice: device, mounts: SystemText.read("/proc/self/mountinfo"))
        }

        /// Returns the kind's number, and the folder it was read from: the nearest parent if the folder does
        /// not exist.
        private static func number(of folder: FilePath) -> (UInt32, FilePath)? {
            var number: UInt32 = 0
            var path = folder
            for _ in 0..<2 {
                let code = repeatingInterrupted {
                    path.withPlatformString { cairn_disk_kind($0, &number) }
                }
                if code == 0 { return (number, path) }
                guard code == ENOENT else { return nil }
                path = path.removingLastComponent()
                if path.isEmpty { path = "." }
            }
            return nil
        }

        /// Returns the device numbers of a folder's disk as the mount table writes them: "0:45".
        private static func device(of path: FilePath) -> String? {
            guard let identity = try? POSIXFileSystem().identity(of: path) else { return nil }
            let device = identity.device
            let major = (device >> 8) & 0xfff | (device >> 32) & 0xffff_f000
            let minor = device & 0xff | (device >> 12) & 0xffff_ff00
            return "\(major):\(minor)"
        }

        /// Returns the type of the mount with a device, if other machines may share it.
        ///
        ///     36 35 0:45 / /mnt/b rw,nosuid master:1 - fuse.sshfs user@machine:/b rw
        ///
        /// - Parameter mounts: the mount table; in its lines the device is the third field, and the type is
        ///   the first one after a hyphen.
        static func fuseKind(ofDevice device: String, mounts: String) -> String? {
            for line in mounts.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 2, fields[2] == device,
                    let hyphen = fields.dropFirst(6).firstIndex(of: "-"),
                    hyphen + 1 < fields.count
                else { continue }
                let type = String(fields[hyphen + 1])
                return fuseKinds.contains(type) ? type : nil
            }
            return nil
        }
    }

#endif
