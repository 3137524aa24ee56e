#define _GNU_SOURCE
#include "CUprightWorker.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

union control {
  char bytes[CMSG_SPACE(sizeof(int))];
  struct cmsghdr alignment;
};

int upright_worker_send(int socket, const void *bytes, size_t count, int descriptor) {
  while (count > 0) {
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    union control control;
    if (descriptor >= 0) {
      message.msg_control = control.bytes;
      message.msg_controllen = sizeof control.bytes;
      struct cmsghdr *header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return -1;
    bytes = (const char *)bytes + sent;
    count -= (size_t)sent;
    descriptor = -1;
  }
  return 0;
}

int upright_worker_receive(int socket, void *bytes, size_t count, int *descriptor) {
  if (descriptor) *descriptor = -1;
  while (count > 0) {
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    union control control;
    struct msghdr message = {
        .msg_iov = &piece,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes,
    };
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
      int passed;
      memcpy(&passed, CMSG_DATA(header), sizeof(int));
      if (descriptor && *descriptor < 0) {
        *descriptor = passed;
      } else {
        close(passed);
      }
    }
    bytes = (char *)bytes + received;
    count -= (size_t)received;
  }
  return 0;
}

void upright_worker_close_from(unsigned first) { syscall(SYS_close_range, first, ~0u, 0); }
