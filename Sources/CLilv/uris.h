/* SPDX-License-Identifier: Apache-2.0
 *
 * The URIs of LV2 that the host speaks of, as constants: VG_<name> is what the
 * LV2 header calls LV2_<name>. */
#ifndef VOICEGRAPH_LV2_URIS_H
#define VOICEGRAPH_LV2_URIS_H

#define VG_URI(name, text) static const char *_Nonnull const name = text

VG_URI(VG_ATOM__AtomPort, LV2_ATOM__AtomPort);
VG_URI(VG_ATOM__Blank, LV2_ATOM__Blank);
VG_URI(VG_ATOM__Bool, LV2_ATOM__Bool);
VG_URI(VG_ATOM__Chunk, LV2_ATOM__Chunk);
VG_URI(VG_ATOM__Double, LV2_ATOM__Double);
VG_URI(VG_ATOM__Float, LV2_ATOM__Float);
VG_URI(VG_ATOM__Int, LV2_ATOM__Int);
VG_URI(VG_ATOM__Long, LV2_ATOM__Long);
VG_URI(VG_ATOM__Object, LV2_ATOM__Object);
VG_URI(VG_ATOM__Path, LV2_ATOM__Path);
VG_URI(VG_ATOM__Sequence, LV2_ATOM__Sequence);
VG_URI(VG_ATOM__String, LV2_ATOM__String);
VG_URI(VG_ATOM__URI, LV2_ATOM__URI);
VG_URI(VG_ATOM__URID, LV2_ATOM__URID);
VG_URI(VG_ATOM__bufferType, LV2_ATOM__bufferType);
VG_URI(VG_ATOM__eventTransfer, LV2_ATOM__eventTransfer);
VG_URI(VG_ATOM__supports, LV2_ATOM__supports);
VG_URI(VG_BUF_SIZE__boundedBlockLength, LV2_BUF_SIZE__boundedBlockLength);
VG_URI(VG_BUF_SIZE__coarseBlockLength, LV2_BUF_SIZE__coarseBlockLength);
VG_URI(VG_BUF_SIZE__fixedBlockLength, LV2_BUF_SIZE__fixedBlockLength);
VG_URI(VG_BUF_SIZE__maxBlockLength, LV2_BUF_SIZE__maxBlockLength);
VG_URI(VG_BUF_SIZE__minBlockLength, LV2_BUF_SIZE__minBlockLength);
VG_URI(VG_BUF_SIZE__nominalBlockLength, LV2_BUF_SIZE__nominalBlockLength);
VG_URI(VG_BUF_SIZE__powerOf2BlockLength, LV2_BUF_SIZE__powerOf2BlockLength);
VG_URI(VG_BUF_SIZE__sequenceSize, LV2_BUF_SIZE__sequenceSize);
VG_URI(VG_CORE__AudioPort, LV2_CORE__AudioPort);
VG_URI(VG_CORE__CVPort, LV2_CORE__CVPort);
VG_URI(VG_CORE__ControlPort, LV2_CORE__ControlPort);
VG_URI(VG_CORE__InputPort, LV2_CORE__InputPort);
VG_URI(VG_CORE__OutputPort, LV2_CORE__OutputPort);
VG_URI(VG_CORE__connectionOptional, LV2_CORE__connectionOptional);
VG_URI(VG_CORE__control, LV2_CORE__control);
VG_URI(VG_CORE__designation, LV2_CORE__designation);
VG_URI(VG_CORE__enabled, LV2_CORE__enabled);
VG_URI(VG_CORE__enumeration, LV2_CORE__enumeration);
VG_URI(VG_CORE__freeWheeling, LV2_CORE__freeWheeling);
VG_URI(VG_CORE__hardRTCapable, LV2_CORE__hardRTCapable);
VG_URI(VG_CORE__inPlaceBroken, LV2_CORE__inPlaceBroken);
VG_URI(VG_CORE__integer, LV2_CORE__integer);
VG_URI(VG_CORE__isLive, LV2_CORE__isLive);
VG_URI(VG_CORE__isSideChain, LV2_CORE_PREFIX "isSideChain");
VG_URI(VG_CORE__latency, LV2_CORE__latency);
VG_URI(VG_CORE__reportsLatency, LV2_CORE__reportsLatency);
VG_URI(VG_CORE__sampleRate, LV2_CORE__sampleRate);
VG_URI(VG_CORE__symbol, LV2_CORE__symbol);
VG_URI(VG_CORE__default, LV2_CORE__default);
VG_URI(VG_CORE__minimum, LV2_CORE__minimum);
VG_URI(VG_CORE__maximum, LV2_CORE__maximum);
VG_URI(VG_CORE__toggled, LV2_CORE__toggled);
VG_URI(VG_EVENT_URI, LV2_EVENT_URI);
VG_URI(VG_EVENT__EventPort, LV2_EVENT__EventPort);
VG_URI(VG_LOG__Error, LV2_LOG__Error);
VG_URI(VG_LOG__Note, LV2_LOG__Note);
VG_URI(VG_LOG__Trace, LV2_LOG__Trace);
VG_URI(VG_LOG__Warning, LV2_LOG__Warning);
VG_URI(VG_LOG__log, LV2_LOG__log);
VG_URI(VG_MIDI__MidiEvent, LV2_MIDI__MidiEvent);
VG_URI(VG_OPTIONS__interface, LV2_OPTIONS__interface);
VG_URI(VG_OPTIONS__options, LV2_OPTIONS__options);
VG_URI(VG_PARAMETERS__sampleRate, LV2_PARAMETERS__sampleRate);
VG_URI(VG_PATCH__Message, LV2_PATCH__Message);
VG_URI(VG_PATCH__Get, LV2_PATCH__Get);
VG_URI(VG_PATCH__Put, LV2_PATCH__Put);
VG_URI(VG_PATCH__Set, LV2_PATCH__Set);
VG_URI(VG_PATCH__body, LV2_PATCH__body);
VG_URI(VG_PATCH__property, LV2_PATCH__property);
VG_URI(VG_PATCH__readable, LV2_PATCH__readable);
VG_URI(VG_PATCH__value, LV2_PATCH__value);
VG_URI(VG_PATCH__writable, LV2_PATCH__writable);
VG_URI(VG_PORT_GROUPS__group, LV2_PORT_GROUPS__group);
VG_URI(VG_PORT_GROUPS__mainInput, LV2_PORT_GROUPS__mainInput);
VG_URI(VG_PORT_GROUPS__mainOutput, LV2_PORT_GROUPS__mainOutput);
VG_URI(VG_PORT_GROUPS__sideChainOf, LV2_PORT_GROUPS__sideChainOf);
VG_URI(VG_PORT_PROPS__logarithmic, LV2_PORT_PROPS__logarithmic);
VG_URI(VG_PORT_PROPS__notOnGUI, LV2_PORT_PROPS__notOnGUI);
VG_URI(VG_PORT_PROPS__hasStrictBounds, LV2_PORT_PROPS__hasStrictBounds);
VG_URI(VG_PORT_PROPS__supportsStrictBounds, LV2_PORT_PROPS__supportsStrictBounds);
VG_URI(VG_PORT_PROPS__trigger, LV2_PORT_PROPS__trigger);
VG_URI(VG_PORT_PROPS__causesArtifacts, LV2_PORT_PROPS__causesArtifacts);
VG_URI(VG_PORT_PROPS__expensive, LV2_PORT_PROPS__expensive);
VG_URI(VG_PRESETS__Preset, LV2_PRESETS__Preset);
VG_URI(VG_RESIZE_PORT__asLargeAs, LV2_RESIZE_PORT__asLargeAs);
VG_URI(VG_RESIZE_PORT__minimumSize, LV2_RESIZE_PORT__minimumSize);
VG_URI(VG_RESIZE_PORT__resize, LV2_RESIZE_PORT__resize);
VG_URI(VG_STATE__freePath, LV2_STATE__freePath);
VG_URI(VG_STATE__interface, LV2_STATE__interface);
VG_URI(VG_STATE__loadDefaultState, LV2_STATE__loadDefaultState);
VG_URI(VG_STATE__makePath, LV2_STATE__makePath);
VG_URI(VG_STATE__mapPath, LV2_STATE__mapPath);
VG_URI(VG_STATE__state, LV2_STATE__state);
VG_URI(VG_STATE__threadSafeRestore, LV2_STATE__threadSafeRestore);
VG_URI(VG_TIME__Position, LV2_TIME__Position);
VG_URI(VG_TIME__bar, LV2_TIME__bar);
VG_URI(VG_TIME__barBeat, LV2_TIME__barBeat);
VG_URI(VG_TIME__beat, LV2_TIME__beat);
VG_URI(VG_TIME__beatUnit, LV2_TIME__beatUnit);
VG_URI(VG_TIME__beatsPerBar, LV2_TIME__beatsPerBar);
VG_URI(VG_TIME__beatsPerMinute, LV2_TIME__beatsPerMinute);
VG_URI(VG_TIME__frame, LV2_TIME__frame);
VG_URI(VG_TIME__speed, LV2_TIME__speed);
VG_URI(VG_UNITS__unit, LV2_UNITS__unit);
VG_URI(VG_UNITS__symbol, LV2_UNITS__symbol);
VG_URI(VG_URI_MAP_URI, LV2_URI_MAP_URI);
VG_URI(VG_URID__map, LV2_URID__map);
VG_URI(VG_URID__unmap, LV2_URID__unmap);
VG_URI(VG_WORKER__interface, LV2_WORKER__interface);
VG_URI(VG_WORKER__schedule, LV2_WORKER__schedule);
VG_URI(VG_RDF__type, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
VG_URI(VG_RDFS__range, "http://www.w3.org/2000/01/rdf-schema#range");
VG_URI(VG_RDFS__label, "http://www.w3.org/2000/01/rdf-schema#label");
VG_URI(VG_DOAP__name, "http://usefulinc.com/ns/doap#name");

/* The host's own: a state's values of ports that share a symbol. */
VG_URI(VG_STATE_PORTS, "urn:voicegraph:ports");

#undef VG_URI
#endif
