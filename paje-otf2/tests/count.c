/* Reads an archive with libotf2, location by location, and counts the events of a traced halo exchange. docs/dev/speed.md
 * compares pj_dump with it. Build: cc -O2 -o count count.c -lopen-trace-format2 (Debian: libotf2-trace-dev) */
#include <otf2/otf2.h>
#include <stdio.h>

#define OK OTF2_CALLBACK_SUCCESS
#define EVENT OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data, OTF2_AttributeList *attributes

static uint64_t events, locations[100000];
static size_t count;

static OTF2_CallbackCode location(void *data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                  uint64_t number, OTF2_LocationGroupRef group) {
    locations[count++] = self;
    return OK;
}
static OTF2_CallbackCode region(EVENT, OTF2_RegionRef region) { events++; return OK; }
static OTF2_CallbackCode request(EVENT, uint64_t request) { events++; return OK; }
static OTF2_CallbackCode begin(EVENT) { events++; return OK; }
static OTF2_CallbackCode send(EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t length, uint64_t request) {
    events++;
    return OK;
}
static OTF2_CallbackCode end(EVENT, OTF2_CollectiveOp operation, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                             uint64_t received) {
    events++;
    return OK;
}

int main(int argc, char **argv) {
    OTF2_Reader *reader = argc == 2 ? OTF2_Reader_Open(argv[1]) : NULL;
    if (!reader) return 1;
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_GlobalDefReader *global = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *definitions = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(definitions, location);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, global, definitions, NULL);
    uint64_t number;
    OTF2_Reader_ReadAllGlobalDefinitions(reader, global, &number);
    for (size_t i = 0; i < count; i++) OTF2_Reader_SelectLocation(reader, locations[i]);
    int has_local = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    OTF2_Reader_OpenEvtFiles(reader);
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, region);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, region);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, send);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, request);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(callbacks, begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, end);
    for (size_t i = 0; i < count; i++) {
        OTF2_DefReader *local = has_local ? OTF2_Reader_GetDefReader(reader, locations[i]) : NULL;
        if (local) {
            OTF2_Reader_ReadAllLocalDefinitions(reader, local, &number);
            OTF2_Reader_CloseDefReader(reader, local);
        }
        OTF2_EvtReader *file = OTF2_Reader_GetEvtReader(reader, locations[i]);
        OTF2_Reader_RegisterEvtCallbacks(reader, file, callbacks, NULL);
        OTF2_Reader_ReadAllLocalEvents(reader, file, &number);
        OTF2_Reader_CloseEvtReader(reader, file);
    }
    printf("%llu events\n", (unsigned long long)events);
    return 0;
}
