/* wgpu.h: the part of the standard WebGPU C API that Gradus calls.
 *
 * Written from the published description of the API and checked against the library
 * in use (tests/run/webgpu-device.c creates one of everything below). Names of types
 * and members are those of the standard, so that its documentation applies. Memory
 * layout is binary interface: never reorder. Numbers that differ between libraries
 * (feature names) are not here: loader.h has them as dialects, settled by probing. */
#ifndef GR_RUN_WEBGPU_WGPU_H
#define GR_RUN_WEBGPU_WGPU_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t WGPUBool;
typedef uint64_t WGPUFlags;

#define GR_WGPU_OBJECT(T) typedef struct WGPU##T##Impl *WGPU##T
GR_WGPU_OBJECT(Adapter);
GR_WGPU_OBJECT(BindGroup);
GR_WGPU_OBJECT(BindGroupLayout);
GR_WGPU_OBJECT(Buffer);
GR_WGPU_OBJECT(CommandBuffer);
GR_WGPU_OBJECT(CommandEncoder);
GR_WGPU_OBJECT(ComputePassEncoder);
GR_WGPU_OBJECT(ComputePipeline);
GR_WGPU_OBJECT(Device);
GR_WGPU_OBJECT(Instance);
GR_WGPU_OBJECT(PipelineLayout);
GR_WGPU_OBJECT(QuerySet);
GR_WGPU_OBJECT(Queue);
GR_WGPU_OBJECT(Sampler);
GR_WGPU_OBJECT(ShaderModule);
GR_WGPU_OBJECT(Surface);
GR_WGPU_OBJECT(TextureView);
#undef GR_WGPU_OBJECT

#define WGPU_STRLEN SIZE_MAX
#define WGPU_WHOLE_SIZE UINT64_MAX
#define WGPU_QUERY_SET_INDEX_UNDEFINED UINT32_MAX

/* Enumerations. They travel as 32-bit integers; Status and friends start at 1 = success. */
enum { WGPUStatus_Success = 1 };
enum { WGPUWaitStatus_Success = 1, WGPUWaitStatus_TimedOut = 2, WGPUWaitStatus_Error = 3 };
enum { WGPURequestStatus_Success = 1 }; /* RequestAdapterStatus, RequestDeviceStatus */
enum { WGPUMapAsyncStatus_Success = 1 };
enum { WGPUPopErrorScopeStatus_Success = 1 };
enum { WGPUCallbackMode_WaitAnyOnly = 1, WGPUCallbackMode_AllowProcessEvents = 2 };
enum { WGPUFeatureLevel_Core = 2 };
enum { WGPUPowerPreference_LowPower = 1, WGPUPowerPreference_HighPerformance = 2 };
enum { WGPUBackendType_Undefined = 0, WGPUBackendType_Null = 1, WGPUBackendType_Vulkan = 6 };
enum {
    WGPUAdapterType_DiscreteGPU = 1,
    WGPUAdapterType_IntegratedGPU = 2,
    WGPUAdapterType_CPU = 3,
    WGPUAdapterType_Unknown = 4,
};
enum { WGPUErrorFilter_Validation = 1, WGPUErrorFilter_OutOfMemory = 2, WGPUErrorFilter_Internal = 3 };
enum {
    WGPUErrorType_NoError = 1,
    WGPUErrorType_Validation = 2,
    WGPUErrorType_OutOfMemory = 3,
    WGPUErrorType_Internal = 4,
};
enum { WGPUDeviceLostReason_Destroyed = 2, WGPUDeviceLostReason_CallbackCancelled = 3 };
enum { WGPUSType_ShaderSourceWGSL = 2, WGPUSType_DawnTogglesDescriptor = 0x0005000A };
enum { WGPUCompilationMessageType_Error = 1, WGPUCompilationMessageType_Warning = 2 };
enum { WGPUBufferBindingType_Uniform = 2, WGPUBufferBindingType_Storage = 3, WGPUBufferBindingType_ReadOnlyStorage = 4 };
enum { WGPUQueryType_Timestamp = 2 };
enum {
    WGPUBufferUsage_MapRead = 0x1,
    WGPUBufferUsage_MapWrite = 0x2,
    WGPUBufferUsage_CopySrc = 0x4,
    WGPUBufferUsage_CopyDst = 0x8,
    WGPUBufferUsage_Uniform = 0x40,
    WGPUBufferUsage_Storage = 0x80,
    WGPUBufferUsage_Indirect = 0x100,
    WGPUBufferUsage_QueryResolve = 0x200,
};
enum { WGPUMapMode_Read = 1, WGPUMapMode_Write = 2 };
enum { WGPUShaderStage_Compute = 4 };

typedef struct WGPUStringView {
    const char *data;
    size_t length;
} WGPUStringView;

typedef struct WGPUChainedStruct {
    struct WGPUChainedStruct *next;
    uint32_t sType;
} WGPUChainedStruct;

typedef struct WGPUFuture {
    uint64_t id;
} WGPUFuture;

typedef struct WGPUFutureWaitInfo {
    WGPUFuture future;
    WGPUBool completed;
} WGPUFutureWaitInfo;

typedef void (*WGPUBufferMapCallback)(uint32_t status, WGPUStringView message, void *u1, void *u2);
typedef void (*WGPURequestAdapterCallback)(uint32_t status, WGPUAdapter adapter, WGPUStringView message, void *u1, void *u2);
typedef void (*WGPURequestDeviceCallback)(uint32_t status, WGPUDevice device, WGPUStringView message, void *u1, void *u2);
typedef void (*WGPUDeviceLostCallback)(const WGPUDevice *device, uint32_t reason, WGPUStringView message, void *u1, void *u2);
typedef void (*WGPUUncapturedErrorCallback)(const WGPUDevice *device, uint32_t type, WGPUStringView message, void *u1, void *u2);
typedef void (*WGPUPopErrorScopeCallback)(uint32_t status, uint32_t type, WGPUStringView message, void *u1, void *u2);
struct WGPUCompilationInfo;
typedef void (*WGPUCompilationInfoCallback)(uint32_t status, const struct WGPUCompilationInfo *info, void *u1, void *u2);

/* All callback descriptions with a mode have the same shape. */
#define GR_WGPU_CALLBACK_INFO(T)    \
    typedef struct T##CallbackInfo { \
        WGPUChainedStruct *nextInChain; \
        uint32_t mode;              \
        T##Callback callback;       \
        void *userdata1, *userdata2; \
    } T##CallbackInfo
GR_WGPU_CALLBACK_INFO(WGPUBufferMap);
GR_WGPU_CALLBACK_INFO(WGPURequestAdapter);
GR_WGPU_CALLBACK_INFO(WGPURequestDevice);
GR_WGPU_CALLBACK_INFO(WGPUDeviceLost);
GR_WGPU_CALLBACK_INFO(WGPUPopErrorScope);
GR_WGPU_CALLBACK_INFO(WGPUCompilationInfo);
#undef GR_WGPU_CALLBACK_INFO

typedef struct WGPUUncapturedErrorCallbackInfo {
    WGPUChainedStruct *nextInChain;
    WGPUUncapturedErrorCallback callback;
    void *userdata1, *userdata2;
} WGPUUncapturedErrorCallbackInfo;

typedef struct WGPUInstanceCapabilities {
    WGPUChainedStruct *nextInChain;
    WGPUBool timedWaitAnyEnable;
    size_t timedWaitAnyMaxCount;
} WGPUInstanceCapabilities;

typedef struct WGPUInstanceDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUInstanceCapabilities capabilities;
} WGPUInstanceDescriptor;

typedef struct WGPURequestAdapterOptions {
    WGPUChainedStruct *nextInChain;
    uint32_t featureLevel;
    uint32_t powerPreference;
    WGPUBool forceFallbackAdapter;
    uint32_t backendType;
    WGPUSurface compatibleSurface;
} WGPURequestAdapterOptions;

typedef struct WGPUAdapterInfo {
    WGPUChainedStruct *nextInChain;
    WGPUStringView vendor, architecture, device, description;
    uint32_t backendType;
    uint32_t adapterType;
    uint32_t vendorID, deviceID;
    uint32_t subgroupMinSize, subgroupMaxSize;
} WGPUAdapterInfo;

typedef struct WGPUSupportedFeatures {
    size_t featureCount;
    const uint32_t *features;
} WGPUSupportedFeatures;

typedef struct WGPULimits {
    WGPUChainedStruct *nextInChain;
    uint32_t maxTextureDimension1D, maxTextureDimension2D, maxTextureDimension3D, maxTextureArrayLayers;
    uint32_t maxBindGroups, maxBindGroupsPlusVertexBuffers, maxBindingsPerBindGroup;
    uint32_t maxDynamicUniformBuffersPerPipelineLayout, maxDynamicStorageBuffersPerPipelineLayout;
    uint32_t maxSampledTexturesPerShaderStage, maxSamplersPerShaderStage;
    uint32_t maxStorageBuffersPerShaderStage, maxStorageTexturesPerShaderStage, maxUniformBuffersPerShaderStage;
    uint64_t maxUniformBufferBindingSize, maxStorageBufferBindingSize;
    uint32_t minUniformBufferOffsetAlignment, minStorageBufferOffsetAlignment;
    uint32_t maxVertexBuffers;
    uint64_t maxBufferSize;
    uint32_t maxVertexAttributes, maxVertexBufferArrayStride, maxInterStageShaderVariables;
    uint32_t maxColorAttachments, maxColorAttachmentBytesPerSample;
    uint32_t maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup;
    uint32_t maxComputeWorkgroupSizeX, maxComputeWorkgroupSizeY, maxComputeWorkgroupSizeZ;
    uint32_t maxComputeWorkgroupsPerDimension;
    uint32_t reserved[16]; /* later members differ between libraries: room for them to write */
} WGPULimits;

typedef struct WGPUQueueDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
} WGPUQueueDescriptor;

typedef struct WGPUDeviceDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    size_t requiredFeatureCount;
    const uint32_t *requiredFeatures;
    const WGPULimits *requiredLimits;
    WGPUQueueDescriptor defaultQueue;
    WGPUDeviceLostCallbackInfo deviceLostCallbackInfo;
    WGPUUncapturedErrorCallbackInfo uncapturedErrorCallbackInfo;
} WGPUDeviceDescriptor;

typedef struct WGPUBufferDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    WGPUFlags usage;
    uint64_t size;
    WGPUBool mappedAtCreation;
} WGPUBufferDescriptor;

typedef struct WGPUShaderSourceWGSL {
    WGPUChainedStruct chain;
    WGPUStringView code;
} WGPUShaderSourceWGSL;

typedef struct WGPUShaderModuleDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
} WGPUShaderModuleDescriptor;

typedef struct WGPUCompilationMessage {
    WGPUChainedStruct *nextInChain;
    WGPUStringView message;
    uint32_t type;
    uint64_t lineNum, linePos; /* from 1; 0 unknown */
    uint64_t offset, length;   /* bytes of UTF-8 */
} WGPUCompilationMessage;

typedef struct WGPUCompilationInfo {
    WGPUChainedStruct *nextInChain;
    size_t messageCount;
    const WGPUCompilationMessage *messages;
} WGPUCompilationInfo;

typedef struct WGPUBufferBindingLayout {
    WGPUChainedStruct *nextInChain;
    uint32_t type;
    WGPUBool hasDynamicOffset;
    uint64_t minBindingSize;
} WGPUBufferBindingLayout;

typedef struct WGPUBindGroupLayoutEntry {
    WGPUChainedStruct *nextInChain;
    uint32_t binding;
    WGPUFlags visibility;
    uint32_t bindingArraySize; /* older libraries have no such member: found by probing (pipeline.c) */
    WGPUBufferBindingLayout buffer;
    struct { WGPUChainedStruct *nextInChain; uint32_t type; } sampler;
    struct { WGPUChainedStruct *nextInChain; uint32_t sampleType, viewDimension; WGPUBool multisampled; } texture;
    struct { WGPUChainedStruct *nextInChain; uint32_t access, format, viewDimension; } storageTexture;
} WGPUBindGroupLayoutEntry;

typedef struct WGPUBindGroupLayoutDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    size_t entryCount;
    const WGPUBindGroupLayoutEntry *entries;
} WGPUBindGroupLayoutDescriptor;

typedef struct WGPUBindGroupEntry {
    WGPUChainedStruct *nextInChain;
    uint32_t binding;
    WGPUBuffer buffer;
    uint64_t offset, size;
    WGPUSampler sampler;
    WGPUTextureView textureView;
} WGPUBindGroupEntry;

typedef struct WGPUBindGroupDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    WGPUBindGroupLayout layout;
    size_t entryCount;
    const WGPUBindGroupEntry *entries;
} WGPUBindGroupDescriptor;

typedef struct WGPUPipelineLayoutDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    size_t bindGroupLayoutCount;
    const WGPUBindGroupLayout *bindGroupLayouts;
    uint32_t immediateSize;
} WGPUPipelineLayoutDescriptor;

typedef struct WGPUConstantEntry {
    WGPUChainedStruct *nextInChain;
    WGPUStringView key;
    double value;
} WGPUConstantEntry;

typedef struct WGPUComputePipelineDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    WGPUPipelineLayout layout;
    struct {
        WGPUChainedStruct *nextInChain;
        WGPUShaderModule module;
        WGPUStringView entryPoint;
        size_t constantCount;
        const WGPUConstantEntry *constants;
    } compute;
} WGPUComputePipelineDescriptor;

typedef struct WGPUCommandEncoderDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
} WGPUCommandEncoderDescriptor, WGPUCommandBufferDescriptor;

typedef struct WGPUPassTimestampWrites {
    WGPUChainedStruct *nextInChain;
    WGPUQuerySet querySet;
    uint32_t beginningOfPassWriteIndex, endOfPassWriteIndex;
} WGPUPassTimestampWrites;

typedef struct WGPUComputePassDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    const WGPUPassTimestampWrites *timestampWrites;
} WGPUComputePassDescriptor;

typedef struct WGPUQuerySetDescriptor {
    WGPUChainedStruct *nextInChain;
    WGPUStringView label;
    uint32_t type;
    uint32_t count;
} WGPUQuerySetDescriptor;

/* Chained by the library Dawn into buffer creation: makes that creation run out of memory
 * (tests of the out-of-memory path only). */
enum { WGPUSType_DawnFakeBufferOOMForTesting = 0x00050040 };
typedef struct WGPUDawnFakeBufferOOMForTesting {
    WGPUChainedStruct chain;
    WGPUBool fakeOOMAtWireClientMap, fakeOOMAtNativeMap, fakeOOMAtDevice;
} WGPUDawnFakeBufferOOMForTesting;

/* Every function called, as X(name without the wgpu prefix, result, parameters). The
 * loader makes a table of pointers from it; a library that lacks one is not usable. */
#define GR_WGPU_FUNCTIONS(X)                                                                              \
    X(CreateInstance, WGPUInstance, (const WGPUInstanceDescriptor *))                                     \
    X(InstanceRelease, void, (WGPUInstance))                                                              \
    X(InstanceProcessEvents, void, (WGPUInstance))                                                        \
    X(InstanceWaitAny, uint32_t, (WGPUInstance, size_t, WGPUFutureWaitInfo *, uint64_t))                  \
    X(InstanceRequestAdapter, WGPUFuture,                                                                 \
      (WGPUInstance, const WGPURequestAdapterOptions *, WGPURequestAdapterCallbackInfo))                  \
    X(AdapterRelease, void, (WGPUAdapter))                                                                \
    X(AdapterGetInfo, uint32_t, (WGPUAdapter, WGPUAdapterInfo *))                                         \
    X(AdapterInfoFreeMembers, void, (WGPUAdapterInfo))                                                    \
    X(AdapterGetLimits, uint32_t, (WGPUAdapter, WGPULimits *))                                            \
    X(AdapterGetFeatures, void, (WGPUAdapter, WGPUSupportedFeatures *))                                   \
    X(SupportedFeaturesFreeMembers, void, (WGPUSupportedFeatures))                                        \
    X(AdapterRequestDevice, WGPUFuture,                                                                   \
      (WGPUAdapter, const WGPUDeviceDescriptor *, WGPURequestDeviceCallbackInfo))                         \
    X(DeviceDestroy, void, (WGPUDevice))                                                                  \
    X(DeviceRelease, void, (WGPUDevice))                                                                  \
    X(DeviceGetQueue, WGPUQueue, (WGPUDevice))                                                            \
    X(DeviceGetLimits, uint32_t, (WGPUDevice, WGPULimits *))                                              \
    X(DevicePushErrorScope, void, (WGPUDevice, uint32_t))                                                 \
    X(DevicePopErrorScope, WGPUFuture, (WGPUDevice, WGPUPopErrorScopeCallbackInfo))                       \
    X(DeviceCreateBuffer, WGPUBuffer, (WGPUDevice, const WGPUBufferDescriptor *))                         \
    X(DeviceCreateShaderModule, WGPUShaderModule, (WGPUDevice, const WGPUShaderModuleDescriptor *))       \
    X(DeviceCreateBindGroupLayout, WGPUBindGroupLayout,                                                   \
      (WGPUDevice, const WGPUBindGroupLayoutDescriptor *))                                                \
    X(DeviceCreateBindGroup, WGPUBindGroup, (WGPUDevice, const WGPUBindGroupDescriptor *))                \
    X(DeviceCreatePipelineLayout, WGPUPipelineLayout, (WGPUDevice, const WGPUPipelineLayoutDescriptor *)) \
    X(DeviceCreateComputePipeline, WGPUComputePipeline,                                                   \
      (WGPUDevice, const WGPUComputePipelineDescriptor *))                                                \
    X(DeviceCreateCommandEncoder, WGPUCommandEncoder, (WGPUDevice, const WGPUCommandEncoderDescriptor *)) \
    X(DeviceCreateQuerySet, WGPUQuerySet, (WGPUDevice, const WGPUQuerySetDescriptor *))                   \
    X(ShaderModuleGetCompilationInfo, WGPUFuture, (WGPUShaderModule, WGPUCompilationInfoCallbackInfo))    \
    X(ShaderModuleRelease, void, (WGPUShaderModule))                                                      \
    X(BindGroupLayoutRelease, void, (WGPUBindGroupLayout))                                                \
    X(BindGroupAddRef, void, (WGPUBindGroup))                                                             \
    X(BindGroupRelease, void, (WGPUBindGroup))                                                            \
    X(PipelineLayoutRelease, void, (WGPUPipelineLayout))                                                  \
    X(ComputePipelineRelease, void, (WGPUComputePipeline))                                                \
    X(QuerySetDestroy, void, (WGPUQuerySet))                                                              \
    X(QuerySetRelease, void, (WGPUQuerySet))                                                              \
    X(BufferDestroy, void, (WGPUBuffer))                                                                  \
    X(BufferRelease, void, (WGPUBuffer))                                                                  \
    X(BufferMapAsync, WGPUFuture, (WGPUBuffer, WGPUFlags, size_t, size_t, WGPUBufferMapCallbackInfo))     \
    X(BufferGetMappedRange, void *, (WGPUBuffer, size_t, size_t))                                         \
    X(BufferGetConstMappedRange, const void *, (WGPUBuffer, size_t, size_t))                              \
    X(BufferUnmap, void, (WGPUBuffer))                                                                    \
    X(QueueRelease, void, (WGPUQueue))                                                                    \
    X(QueueSubmit, void, (WGPUQueue, size_t, const WGPUCommandBuffer *))                                  \
    X(QueueWriteBuffer, void, (WGPUQueue, WGPUBuffer, uint64_t, const void *, size_t))                    \
    X(CommandEncoderBeginComputePass, WGPUComputePassEncoder,                                             \
      (WGPUCommandEncoder, const WGPUComputePassDescriptor *))                                            \
    X(CommandEncoderCopyBufferToBuffer, void,                                                             \
      (WGPUCommandEncoder, WGPUBuffer, uint64_t, WGPUBuffer, uint64_t, uint64_t))                         \
    X(CommandEncoderClearBuffer, void, (WGPUCommandEncoder, WGPUBuffer, uint64_t, uint64_t))              \
    X(CommandEncoderResolveQuerySet, void,                                                                \
      (WGPUCommandEncoder, WGPUQuerySet, uint32_t, uint32_t, WGPUBuffer, uint64_t))                       \
    X(CommandEncoderFinish, WGPUCommandBuffer, (WGPUCommandEncoder, const WGPUCommandBufferDescriptor *)) \
    X(CommandEncoderRelease, void, (WGPUCommandEncoder))                                                  \
    X(CommandBufferRelease, void, (WGPUCommandBuffer))                                                    \
    X(ComputePassEncoderSetPipeline, void, (WGPUComputePassEncoder, WGPUComputePipeline))                 \
    X(ComputePassEncoderSetBindGroup, void,                                                               \
      (WGPUComputePassEncoder, uint32_t, WGPUBindGroup, size_t, const uint32_t *))                        \
    X(ComputePassEncoderDispatchWorkgroups, void, (WGPUComputePassEncoder, uint32_t, uint32_t, uint32_t)) \
    X(ComputePassEncoderDispatchWorkgroupsIndirect, void, (WGPUComputePassEncoder, WGPUBuffer, uint64_t)) \
    X(ComputePassEncoderEnd, void, (WGPUComputePassEncoder))                                              \
    X(ComputePassEncoderRelease, void, (WGPUComputePassEncoder))

#endif
