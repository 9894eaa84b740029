// Reads a file into GPU memory, or host memory where there is no GPU, and prints the receipt.
#include <iostream>

#include <waybill/waybill.hpp>

int main(int count, char** words) {
    if (count != 2) {
        std::cerr << "usage: quickstart FILE\n";
        return 2;
    }
    try {
        const waybill::File file = waybill::File::open(words[1]);
        const std::uint64_t size = file.size();
        const waybill::Buffer buffer =
            waybill::list_gpus().empty() ? waybill::Buffer::on_host(size) : waybill::Buffer::on_gpu(0, size);
        waybill::Request request;
        request.target = {buffer.data(), size, {}, false};
        std::cout << to_text(file.read(request));
    } catch (const waybill::Error& error) {
        std::cerr << error.what() << '\n';
        return exit_code(error.code());
    }
}
