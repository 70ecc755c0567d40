// SPDX-License-Identifier: Apache-2.0
import CLV2

/// Soft saturation for any LV2 host, in Embedded Swift: no Swift runtime, nothing but the C library.
///
/// The output is `level * f(drive * in)` with `f(x) = x / (1 + |x|)`, which bends loud samples and leaves soft ones
/// almost alone. Both gains and the bypass glide over about 10 ms, sample by sample, so that the sound does not
/// depend on how long the host's blocks are.
struct Warmth {
    /// What each port index of warmth.ttl stands for.
    enum Port: UInt32 { case drive, level, enabled, input, output }

    /// Connected by the host before `run`; nil until then.
    var drive: UnsafePointer<Float>?
    var level: UnsafePointer<Float>?
    var enabled: UnsafePointer<Float>?
    var input: UnsafePointer<Float>?
    var output: UnsafeMutablePointer<Float>?

    /// How far a glide gets in one frame, 0 to 1.
    let glide: Float
    /// Where the glides are; negative before the first block, which begins at the values set.
    var driveGain: Float = -1
    var levelGain: Float = -1
    var wet: Float = -1

    init(rate: Double) { glide = 1 - warmth_exp(-1 / (0.01 * Float(rate))) }
}

/// One block. `@_noLocks` makes the compiler refuse whatever could wait or allocate. Input and output may be the same
/// memory. [audio]
@_noLocks
func warmthRun(_ warmth: UnsafeMutablePointer<Warmth>, _ frames: UInt32) {
    guard let input = warmth.pointee.input, let output = warmth.pointee.output,
        let drive = warmth.pointee.drive, let level = warmth.pointee.level, let enabled = warmth.pointee.enabled
    else { return }
    let wantedDrive = gain(decibels: drive.pointee)
    let wantedLevel = gain(decibels: level.pointee)
    let wantedWet: Float = enabled.pointee > 0 ? 1 : 0
    let glide = warmth.pointee.glide
    var now = warmth.pointee
    if now.wet < 0 { (now.driveGain, now.levelGain, now.wet) = (wantedDrive, wantedLevel, wantedWet) }

    var frame = 0
    while frame < Int(frames) {
        let dry = input[frame]
        let driven = dry * now.driveGain
        let bent = driven / (1 + driven.magnitude) * now.levelGain
        output[frame] = dry + (bent - dry) * now.wet
        now.driveGain += (wantedDrive - now.driveGain) * glide
        now.levelGain += (wantedLevel - now.levelGain) * glide
        now.wet += (wantedWet - now.wet) * glide
        frame += 1
    }
    warmth.pointee.driveGain = now.driveGain
    warmth.pointee.levelGain = now.levelGain
    warmth.pointee.wet = now.wet
}

/// 20 dB are a factor of 10. [audio]
@_noLocks
private func gain(decibels: Float) -> Float { warmth_exp2(decibels * 0.166_096_404_744) }
